import type { Clock } from '../ports/clock.ts'
import type { Caller, Refusal } from '../ports/credential-resolver.ts'
import type { PresentedJwt } from './access-token.ts'

/** For how long a token is believed before binding and user are read again (decisions: Consistency). */
const LEASE_MS = 1000
const REFUSALS_MAX = 1000

/** A token whose signature was verified, and what came of it. */
export interface Known {
  readonly jwt: PresentedJwt
  readonly caller: Caller
  readonly expiresAtMs: number
  /** When its signature was verified. */
  readonly verifiedMs: number
  /** When the datastore was asked about it last. */
  readonly confirmedMs: number
}

/** What is remembered of a token: believed for now, to be asked about again, or refused a moment ago. */
export type Remembered = { readonly state: 'leased' | 'due'; readonly known: Known } | Refusal

/**
 * Verified tokens by a digest of theirs. Nothing here depends on being told of a change: a token is used for a second
 * and then confirmed, so that a deleted binding and a disabled user end within one on every replica. Refusals are kept
 * for a second as well, so that a flood of one bad token costs one verification.
 */
export interface LeaseCache {
  get(key: string): Remembered | undefined
  keep(key: string, answer: Known | Refusal): void
  drop(key: string): void
}

/** Makes the cache; of tokens beyond `entriesMax` those not used longest go. */
export function createLeaseCache(clock: Clock, entriesMax: number): LeaseCache {
  const tokens = new Map<string, Known>()
  const refusals = new Map<string, { readonly refusal: Refusal; readonly atMs: number }>()

  const isWithinLease = (atMs: number): boolean => {
    const elapsedMs = clock.now() - atMs
    // A clock that is set back prolongs nothing.
    return elapsedMs >= 0 && elapsedMs < LEASE_MS
  }

  function refused(key: string): Refusal | undefined {
    const found = refusals.get(key)
    if (found === undefined || isWithinLease(found.atMs)) return found?.refusal
    refusals.delete(key)
    return undefined
  }

  return {
    get(key) {
      const known = tokens.get(key)
      if (known === undefined) return refused(key)
      tokens.delete(key)
      tokens.set(key, known)
      return { state: isWithinLease(known.confirmedMs) ? 'leased' : 'due', known }
    },
    keep(key, answer) {
      tokens.delete(key)
      refusals.delete(key)
      if ('refused' in answer) {
        add(refusals, REFUSALS_MAX, [key, { refusal: answer, atMs: clock.now() }])
      } else {
        add(tokens, entriesMax, [key, answer])
      }
    },
    drop: (key) => void tokens.delete(key),
  }
}

function add<Value>(map: Map<string, Value>, max: number, [key, value]: readonly [string, Value]): void {
  const oldest = map.keys().next()
  if (map.size >= max && oldest.done !== true) map.delete(oldest.value)
  map.set(key, value)
}
