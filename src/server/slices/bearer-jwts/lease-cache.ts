import { createSecondChanceMap } from '../../../shared/second-chance-map.ts'
import { createRecentRefusals } from '../../http/auth/recent-refusals.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Caller, Refusal } from '../../ports/credential-resolver.ts'
import type { PresentedJwt } from './access-token.ts'

/** How long a token is trusted before binding and user are read again (decisions: Consistency). */
const LEASE_MS = 1000

/** A token whose signature was verified, and its result. */
export interface Known {
  readonly jwt: PresentedJwt
  readonly caller: Caller
  readonly expiresAtMs: number
  /** When its signature was verified. */
  readonly verifiedMs: number
  /** When the datastore was asked about it last. */
  readonly confirmedMs: number
  /** When the use by a service identity was last recorded. */
  readonly notedMs: number | undefined
}

/** The cached state of a token: trusted now, due for confirmation, or refused recently. */
export type Remembered = { readonly state: 'leased' | 'due'; readonly known: Known } | Refusal

/**
 * Verified tokens by a digest of theirs. Nothing here depends on notifications of changes: a token is used for a second
 * and then confirmed, so that a deleted binding and a disabled user take effect within a second on every replica. Refusals are kept
 * for a second as well, so that a flood of one bad token costs one verification.
 */
export interface LeaseCache {
  get(key: string): Remembered | undefined
  keep(key: string, answer: Known | Refusal): void
  drop(key: string): void
}

/** Makes the cache; of tokens beyond `entriesMax` those not used lately go. */
export function createLeaseCache(clock: Clock, entriesMax: number): LeaseCache {
  const tokens = createSecondChanceMap<Known>(entriesMax)
  const refusals = createRecentRefusals(clock)

  const isWithinLease = (atMs: number): boolean => {
    const elapsedMs = clock.now() - atMs
    // A clock that is set back prolongs nothing.
    return elapsedMs >= 0 && elapsedMs < LEASE_MS
  }

  return {
    get(key) {
      const known = tokens.get(key)
      if (known === undefined) return refusals.get(key)
      return { state: isWithinLease(known.confirmedMs) ? 'leased' : 'due', known }
    },
    keep(key, answer) {
      if (!('refused' in answer)) return tokens.set(key, answer)
      tokens.delete(key)
      refusals.keep(key, answer)
    },
    drop: (key) => tokens.delete(key),
  }
}
