import { createSecondChanceMap } from '../../../shared/second-chance-map.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Refusal } from '../../ports/credential-resolver.ts'

const REFUSAL_MS = 1000
const REFUSALS_MAX = 1000

/** Refusals of the last second by key, a bounded number of them. */
export interface RecentRefusals {
  get(key: string): Refusal | undefined
  keep(key: string, refusal: Refusal): void
  drop(key: string): void
}

/**
 * Keeps refusals for a second, so that a flood of one bad credential costs one look-up a second. A credential is stored
 * before it is shown: a refused text becomes good later only where its owner is let in again, which may take that long.
 */
export function createRecentRefusals(clock: Clock): RecentRefusals {
  const kept = createSecondChanceMap<{ readonly refusal: Refusal; readonly atMs: number }>(REFUSALS_MAX)
  return {
    get(key) {
      const found = kept.get(key)
      if (found === undefined) return undefined
      const elapsedMs = clock.now() - found.atMs
      // A clock that is set back prolongs nothing.
      if (elapsedMs >= 0 && elapsedMs < REFUSAL_MS) return found.refusal
      kept.delete(key)
      return undefined
    },
    keep: (key, refusal) => kept.set(key, { refusal, atMs: clock.now() }),
    drop: (key) => kept.delete(key),
  }
}
