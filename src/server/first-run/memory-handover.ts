import type { TokenHandover } from './token-handover.ts'

/** Passes the token to this process, for a server without storage (`--dev`). */
export interface MemoryHandover extends TokenHandover {
  /** The published token. @throws Error if there is none. */
  token(): string
  /** The published token; undefined if there is none. */
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
