import { SESSION_IDLE_MS } from '../../ports/sessions.ts'
import type { IdpBinding } from '../../ports/idp-bindings.ts'
import type { Claims } from './person.ts'

/** How a person was authenticated. */
export interface Authentication {
  readonly acr: string | undefined
  readonly amr: readonly string[]
  readonly authTimeMs: number
}

/** Tolerated difference between the provider's clock and this server's, in seconds. */
export const CLOCK_TOLERANCE_SECONDS = 30

type Required = Pick<IdpBinding, 'requiredAcr' | 'requiredAmr'>

/**
 * Maximum age of the authentication: what the request asks, and where the binding requires a class of authentication no
 * older than a session of this server may idle. Null where it does not matter.
 */
export function maxAgeOf({ requiredAcr }: Required, askedSeconds: number | undefined): number | null {
  if (requiredAcr.length === 0) return askedSeconds ?? null
  return Math.min(askedSeconds ?? Infinity, SESSION_IDLE_MS / 1000)
}

/** Reads how the person was authenticated; for a token without `auth_time`, its issue time counts. */
export function authenticationOf({ acr, amr, auth_time, iat }: Claims, nowMs: number): Authentication {
  const seconds = [auth_time, iat].find((each): each is number => typeof each === 'number' && Number.isFinite(each))
  return {
    acr: typeof acr === 'string' && acr !== '' ? acr : undefined,
    amr: Array.isArray(amr) ? amr.filter((each): each is string => typeof each === 'string') : [],
    authTimeMs: seconds === undefined ? nowMs : Math.min(seconds * 1000, nowMs),
  }
}

/**
 * What an authentication lacks of what was required, for the log; undefined when nothing. A provider may ignore what it
 * was asked for (OpenID Connect Core §3.1.2.1, RFC 9470 §5), so only its token shows what was done.
 */
export function lackOf(
  { requiredAcr, requiredAmr }: Required,
  claims: Claims,
  at: { readonly maxAgeSeconds: number | null; readonly nowMs: number },
): string | undefined {
  const { acr, amr, authTimeMs } = authenticationOf(claims, at.nowMs)
  if (requiredAcr.length > 0 && (acr === undefined || !requiredAcr.includes(acr))) return 'the acr is not one required'
  if (!requiredAmr.every((method) => amr.includes(method))) return 'the amr lacks a required method'
  if (at.maxAgeSeconds === null) return undefined
  if (requiredAcr.length > 0 && typeof claims['auth_time'] !== 'number') return 'auth_time is missing'
  const ageSeconds = (at.nowMs - authTimeMs) / 1000
  return ageSeconds > at.maxAgeSeconds + CLOCK_TOLERANCE_SECONDS ? 'the authentication is too old' : undefined
}
