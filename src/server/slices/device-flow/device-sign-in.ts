import { isSignedInAs, type SignedIn, type WantedSignIn } from '../../http/auth/wanted-sign-in.ts'
import type { DeviceSignIn } from './store.ts'

/** How long the codes are good, s. */
export const LIFETIME_SECONDS = 600
/** Interval between two polls of a device, s; each early poll adds the same again, permanently (RFC 8628 §3.5). */
export const INTERVAL_SECONDS = 5
/** Tolerance for a device's timer that fires early, ms. */
const EARLY_MS = 100
/** A token of a device sign-in works for 30 days, unless the device asks for less. */
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

/** The device's new interval, s. */
export function nextInterval(outcome: PollOutcome, seconds: number): number {
  return outcome === 'slow_down' ? Math.min(seconds + INTERVAL_SECONDS, LIFETIME_SECONDS) : seconds
}

/** Whether somebody may still decide about it. */
export function isUndecided(signIn: DeviceSignIn, nowMs: number): boolean {
  return signIn.state === 'pending' && signIn.expires_at.getTime() > nowMs
}

/** The name that the device gave itself, for display: without characters that hide or reorder the text beside them. */
export function clientShown({ client_name: name, client_id: id }: DeviceSignIn): string {
  return readable(name ?? '') || readable(id) || 'device'
}

function readable(text: string): string {
  return text.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim()
}

/** The sign-in that the device asks for; undefined where any will do. */
export function wantedBy({ acr_values: acrValues, max_age_seconds: maxAge }: DeviceSignIn): WantedSignIn | undefined {
  if (acrValues.length === 0 && maxAge === null) return undefined
  return { ...(acrValues.length > 0 && { acrValues }), ...(maxAge !== null && { maxAgeSeconds: maxAge }) }
}

/** The sign-in that an approver of the device lacks; undefined where theirs will do. */
export function lackingFor(signIn: DeviceSignIn, approver: SignedIn, nowMs: number): WantedSignIn | undefined {
  const wanted = wantedBy(signIn)
  return wanted === undefined || isSignedInAs(approver, wanted, nowMs) ? undefined : wanted
}
