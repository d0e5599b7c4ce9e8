import type { Caller } from '../../ports/credential-resolver.ts'
import { SIGN_IN_AGE_MAX_MS } from './recent-sign-in.ts'

/** The sign-in that a policy requires. At least one member is there. */
export interface WantedSignIn {
  /** Accepted `acr` values; any value when absent. */
  readonly acrValues?: readonly string[]
  /** Maximum age of the sign-in, in seconds; any age when absent. */
  readonly maxAgeSeconds?: number
}

/** How somebody was signed in. */
export type SignedIn = Pick<Caller, 'acr' | 'authTimeMs' | 'isAuthTimeAssumed'>

/** How far the clock of a provider may be ahead. */
const AHEAD_MS = 30_000

/**
 * Whether a sign-in has one of the values and is no older than that. A sign-in whose time nobody stated, or stated for
 * the future, has no age (OpenID Connect Core §2 makes `auth_time` optional).
 */
export function isSignedInAs(signedIn: SignedIn, wanted: WantedSignIn, nowMs: number): boolean {
  const { acrValues, maxAgeSeconds } = wanted
  if (acrValues !== undefined && !(signedIn.acr !== undefined && acrValues.includes(signedIn.acr))) return false
  if (maxAgeSeconds === undefined) return true
  if (signedIn.authTimeMs === undefined || signedIn.isAuthTimeAssumed === true) return false
  const ageMs = nowMs - signedIn.authTimeMs
  return ageMs >= -AHEAD_MS && ageMs <= maxAgeSeconds * 1000
}

/**
 * The sign-in that a caller lacks; undefined where it satisfies the policy. Only a person signs in. An API token of the
 * device flow keeps the sign-in of its approver for 15 minutes where the policy names no other age, since the token itself
 * works for days.
 */
export function lackedBy(caller: Caller, policy: WantedSignIn, nowMs: number): WantedSignIn | undefined {
  const isToken = caller.credential.kind === 'api-token' && caller.approvalId === undefined
  const wanted = isToken ? { maxAgeSeconds: SIGN_IN_AGE_MAX_MS / 1000, ...policy } : policy
  return caller.kind === 'user' && isSignedInAs(caller, wanted, nowMs) ? undefined : wanted
}
