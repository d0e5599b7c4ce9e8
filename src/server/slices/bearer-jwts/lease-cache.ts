import type { Clock } from '../../ports/clock.ts'
import type { Caller, Refusal } from '../../ports/credential-resolver.ts'
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
  /** When the use by a service identity was noted last. */
  readonly notedMs: number | undefined
}

/** What is remembered of a token: believed for now, to be asked about again, or refused a moment ago. */
export type Remembered = { readonly state: 'leased' | 'due'; readonly known: Known } | Refusal

/**
 * Verified tokens by a digest of theirs. Nothing here depends on notifications of changes: a token is used for a second
 * and then confirmed, so that a deleted binding and a disabled user end within one on every replica. Refusals are kept
 * for a second as well, so that a flood of one bad token costs one verification.
 */
export interface LeaseCache {
  get(key: string): Remembered | undefined
  keep(key: string, answer: Known | Refusal): void
  drop(key: string): void
}

/** Mutable on purpose: a token that is used again allocates nothing, and keeps its place (decision 0016: holes in maps cost). */
interface Slot {
  known: Known
  wasUsed: boolean
}

/** Makes the cache; of tokens beyond `entriesMax` those not used lately go. */
export function createLeaseCache(clock: Clock, entriesMax: number): LeaseCache {
  const slots = new Map<string, Slot>()
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

  function keepRefusal(key: string, refusal: Refusal): void {
    slots.delete(key)
    refusals.delete(key)
    const oldest = refusals.keys().next()
    if (refusals.size >= REFUSALS_MAX && oldest.done !== true) refusals.delete(oldest.value)
    refusals.set(key, { refusal, atMs: clock.now() })
  }

  function keepKnown(key: string, known: Known): void {
    const slot = slots.get(key)
    if (slot !== undefined) {
      slot.known = known
      return
    }
    while (slots.size >= entriesMax) evictOne()
    slots.set(key, { known, wasUsed: false })
  }

  /** Takes the oldest; one used since it was last looked at gets a second round. */
  function evictOne(): void {
    for (const [key, slot] of slots) {
      slots.delete(key)
      if (!slot.wasUsed) return
      slots.set(key, { known: slot.known, wasUsed: false })
    }
  }

  return {
    get(key) {
      const slot = slots.get(key)
      if (slot === undefined) return refused(key)
      slot.wasUsed = true
      return { state: isWithinLease(slot.known.confirmedMs) ? 'leased' : 'due', known: slot.known }
    },
    keep(key, answer) {
      if ('refused' in answer) keepRefusal(key, answer)
      else keepKnown(key, answer)
    },
    drop: (key) => void slots.delete(key),
  }
}
