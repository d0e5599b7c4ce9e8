import { SignerError, signingUnavailable, type VerificationKey } from '../../ports/signer.ts'
import type { PublicKeyTimes } from './key-source.ts'

/** How often each process reloads the keys. */
export const REFRESH_MS = 15_000
/** A process whose last reload is older publishes no keys: its list may lack the next signing key. */
export const STALE_MS = 120_000
/** How long a verifier may keep the list. */
export const KEEP_MS = 300_000
/** Maximum difference between the clocks of replicas. */
const SKEW_MS = 60_000
/**
 * Time from the publication of a key to its first signature. By then every cached list without the key is out of use.
 * The rest is for an operator who wants to check the new key before.
 */
const PUBLISHED_AHEAD_MS = STALE_MS + KEEP_MS + SKEW_MS + 120_000
/** How long a key verifies after its last signature: event envelopes are kept for 7 days (decisions: Events). */
const VERIFIES_ON_MS = 8 * 86_400_000

/** A key, perhaps with what signs with it. */
export interface Scheduled {
  readonly public: PublicKeyTimes
}

/**
 * The newest key whose first signature may be made now. If the clock is behind the start of the first key, that key
 * signs. @throws Problem `signing_unavailable` without keys.
 */
export function currentOf<Key extends Scheduled>(keys: readonly Key[], nowMs: number): Key {
  const current = keys.findLast((key) => key.public.signsFrom.getTime() <= nowMs) ?? keys[0]
  if (current === undefined) throw signingUnavailable(new SignerError('key', 'there is no signing key'))
  return current
}

/** The first key that is published and does not sign yet. */
export function pendingOf<Key extends Scheduled>(keys: readonly Key[], nowMs: number): Key | undefined {
  const current = currentOf(keys, nowMs)
  return keys.find((key) => key !== current && key.public.signsFrom.getTime() > nowMs)
}

/** The keys that sign now or later. */
export function signingFrom<Key extends Scheduled>(keys: readonly Key[], nowMs: number): readonly Key[] {
  return keys.length === 0 ? [] : keys.slice(keys.indexOf(currentOf(keys, nowMs)))
}

/** Keys that verify, by their states: the current one, those that follow, and retired ones, newest first. */
export function published(keys: readonly Scheduled[], nowMs: number): readonly VerificationKey[] {
  const current = currentOf(keys, nowMs)
  const at = keys.indexOf(current)
  return [
    stated(current, 'current'),
    ...keys.slice(at + 1).map((key) => stated(key, 'next')),
    ...keys
      .slice(0, at)
      .filter((key) => (key.public.notAfter?.getTime() ?? Infinity) > nowMs)
      .toReversed()
      .map((key) => stated(key, 'retired')),
  ]
}

export function stated(key: Scheduled, state: VerificationKey['state']): VerificationKey {
  return { ...key.public, state }
}

/** When a key that is published now signs first, after the newest key of all, and when that one verifies no more. */
export function succession(newest: Scheduled, nowMs: number): { readonly signsFrom: Date; readonly notAfter: Date } {
  const signsFromMs = Math.max(nowMs + PUBLISHED_AHEAD_MS, newest.public.signsFrom.getTime() + 1)
  return { signsFrom: new Date(signsFromMs), notAfter: new Date(signsFromMs + VERIFIES_ON_MS) }
}
