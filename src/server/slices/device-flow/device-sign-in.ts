import type { DeviceSignIn } from './store.ts'

/** How long the codes are good, s. */
export const LIFETIME_SECONDS = 600
/** How long a device waits between two questions, s; each one that comes too early adds as much for good (RFC 8628 §3.5). */
export const INTERVAL_SECONDS = 5
/** A timer of the device may fire so much early, ms. */
const EARLY_MS = 100
/** A token of a device sign-in works for 30 days. */
export const TOKEN_LIFETIME_SECONDS = 30 * 86_400

/** The result of a device's poll; `approved` when there is a token for it. */
export type PollOutcome =
  | 'authorization_pending'
  | 'slow_down'
  | 'access_denied'
  | 'expired_token'
  | 'invalid_grant'
  | 'approved'

/** Decides the result of the device's poll. A redeemed code is as unknown as one that never existed. */
export function pollOutcome(
  signIn: DeviceSignIn | undefined,
  clientId: string | undefined,
  nowMs: number,
): PollOutcome {
  if (signIn === undefined || signIn.state === 'redeemed') return 'invalid_grant'
  if (clientId !== undefined && clientId !== signIn.client_id) return 'invalid_grant'
  if (signIn.state === 'denied') return 'access_denied'
  if (signIn.expires_at.getTime() <= nowMs) return 'expired_token'
  if (signIn.state === 'approved') return 'approved'
  return isEarly(signIn, nowMs) ? 'slow_down' : 'authorization_pending'
}

function isEarly({ polled_at: polledAt, interval_seconds: interval }: DeviceSignIn, nowMs: number): boolean {
  return polledAt !== null && nowMs < polledAt.getTime() + interval * 1000 - EARLY_MS
}

/** How long the device has to wait from now on, s. */
export function nextInterval(outcome: PollOutcome, seconds: number): number {
  return outcome === 'slow_down' ? Math.min(seconds + INTERVAL_SECONDS, LIFETIME_SECONDS) : seconds
}

/** Whether somebody may still decide about it. */
export function isUndecided(signIn: DeviceSignIn, nowMs: number): boolean {
  return signIn.state === 'pending' && signIn.expires_at.getTime() > nowMs
}

/** What the device calls itself, for people to read: without characters that hide or reorder the text beside them. */
export function clientShown({ client_name: name, client_id: id }: DeviceSignIn): string {
  return readable(name ?? '') || readable(id) || 'device'
}

function readable(text: string): string {
  return text.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim()
}
