import type { TokenHandover } from './token-handover.ts'

/** Hands the token to this very process, for a server that keeps nothing (`--dev`). */
export interface MemoryHandover extends TokenHandover {
  /** The token that was published. Throws when there is none. */
  token(): string
  /** The same; undefined when there is none. */
  published(): string | undefined
}

export function createMemoryHandover(): MemoryHandover {
  let staged: string | undefined
  let published: string | undefined
  return {
    prove: () => undefined,
    stage(token) {
      staged = token
    },
    staged: () => undefined,
    publish() {
      published = staged
    },
    discard() {
      staged = undefined
    },
    published: () => published,
    token() {
      if (published === undefined) throw new Error('no token was handed over')
      return published
    },
  }
}
