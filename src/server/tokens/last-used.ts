import type { Datastore } from '../ports/datastore.ts'
import { writeUses, type TokenUse } from './store.ts'

export interface LastUsedDeps {
  readonly datastore: Datastore
  /** Told when a batch could not be written; its uses are given up. */
  readonly onFailure: (error: unknown) => void
  /** How long uses are gathered. */
  readonly gatherMs?: number
  /** Tokens gathered at most; uses of others are left to a later minute. */
  readonly gatheredMax?: number
}

/** Writes down when tokens were used last: in batches, from the worker pool, never while a request waits. */
export interface LastUsed {
  note(tokenId: string, atMs: number): void
  /** Writes what is gathered. */
  flush(): Promise<void>
}

export function createLastUsed({
  datastore,
  onFailure,
  gatherMs = 5000,
  gatheredMax = 10_000,
}: LastUsedDeps): LastUsed {
  let gathered = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const uses = Array.from(gathered, ([id, atMs]): TokenUse => ({ id, at: new Date(atMs) }))
    gathered = new Map()
    if (uses.length === 0) return
    try {
      await writeUses(datastore.pool('worker'), uses)
    } catch (error) {
      onFailure(error)
    }
  }

  return {
    note(tokenId, atMs) {
      if (gathered.size >= gatheredMax && !gathered.has(tokenId)) return
      gathered.set(tokenId, atMs)
      timer ??= setTimeout(() => void flush(), gatherMs).unref()
    },
    flush,
  }
}
