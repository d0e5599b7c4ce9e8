import type { Change, StoredTuple } from '../../ports/unit-of-work.ts'

/** A change that remembers which roles and memberships it wrote. */
export interface WatchedChange {
  readonly change: Change
  readonly written: readonly StoredTuple[]
}

/** Watches a change. Parent edges are left out: only services write them, and they make nobody a manager. */
export function watchTuples(change: Change): WatchedChange {
  const written: StoredTuple[] = []
  const { tuples } = change
  const watched: Change = {
    ...change,
    tuples: {
      ...tuples,
      async create(tuple, place) {
        const stored = await tuples.create(tuple, place)
        if (stored !== undefined) written.push(stored)
        return stored
      },
    },
  }
  return { change: watched, written }
}
