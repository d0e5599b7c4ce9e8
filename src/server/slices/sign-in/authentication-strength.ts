import { SESSION_IDLE_MS } from '../../ports/sessions.ts'
import type { IdpBinding } from '../../ports/idp-bindings.ts'
import type { Claims } from './person.ts'

/** How a person was authenticated. */
export interface Authentication {
  readonly acr: string | undefined
  readonly amr: readonly string[]
  readonly authTimeMs: number
  /** Whether the provider stated none, so that it is the time of its token. */
  readonly isAuthTimeAssumed?: boolean
}

/** Tolerated difference between the provider's clock and this server's, in seconds. */
export const CLOCK_TOLERANCE_SECONDS = 30

type Required = Pick<IdpBinding, 'requiredAcr' | 'requiredAmr'>

/** The sign-in that a request asks for, beyond what its binding requires. */
export interface AskedSignIn {
  /** One of these; any when absent. */
  readonly acrValues?: readonly string[] | undefined
  readonly maxAgeSeconds?: number | undefined
  /** Whether the provider must state when the person signed in; else the time of its token will do. */
  readonly mustStateTime?: boolean | undefined
}

/** What an attempt demands of the provider's answer. */
export interface DemandedSignIn {
  /** Those that the request names; none where it names none, and in attempts that an older version began. */
  readonly acrValues?: readonly string[] | undefined
  /** How old the authentication may be at most; null where it does not matter. */
  readonly maxAgeSeconds: number | null
  readonly mustStateTime?: boolean | undefined
}

/**
 * What a sign-in demands: what the request asks, and where the binding requires a class of authentication one that is no
 * older than a session of this server may idle.
 */
export function demandOf({ requiredAcr }: Required, asked: AskedSignIn): DemandedSignIn {
  const { acrValues = [], maxAgeSeconds, mustStateTime = false } = asked
  const longest = requiredAcr.length === 0 ? Infinity : SESSION_IDLE_MS / 1000
  const seconds = Math.min(maxAgeSeconds ?? Infinity, longest)
  return {
    acrValues,
    maxAgeSeconds: seconds === Infinity ? null : seconds,
    mustStateTime: mustStateTime || requiredAcr.length > 0,
  }
}

/** The `acr_values` that the provider is asked for: those that satisfy request and binding, where there are any. */
export function acrValuesFor({ requiredAcr }: Required, { acrValues = [] }: DemandedSignIn): readonly string[] {
  if (acrValues.length === 0 || requiredAcr.length === 0) return [...acrValues, ...requiredAcr]
  const both = acrValues.filter((value) => requiredAcr.includes(value))
  return both.length > 0 ? both : acrValues
}

/** Reads how the person was authenticated; for a token without `auth_time`, its issue time counts. */
export function authenticationOf({ acr, amr, auth_time, iat }: Claims, nowMs: number): Authentication {
  const seconds = [auth_time, iat].find(isTime)
  return {
    acr: typeof acr === 'string' && acr !== '' ? acr : undefined,
    amr: Array.isArray(amr) ? amr.filter((each): each is string => typeof each === 'string') : [],
    authTimeMs: seconds === undefined ? nowMs : Math.min(seconds * 1000, nowMs),
    ...(!isTime(auth_time) && { isAuthTimeAssumed: true }),
  }
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

/**
 * What an authentication lacks of what was required, for the log; undefined when nothing. A provider may ignore what it
 * was asked for (OpenID Connect Core §3.1.2.1, RFC 9470 §5), so only its token shows what was done.
 */
export function lackOf(
  { requiredAcr, requiredAmr }: Required,
  claims: Claims,
  { acrValues = [], nowMs, ...demand }: DemandedSignIn & { readonly nowMs: number },
): string | undefined {
  const authentication = authenticationOf(claims, nowMs)
  const { acr, amr } = authentication
  const isClass = (values: readonly string[]): boolean =>
    values.length === 0 || (acr !== undefined && values.includes(acr))
  if (!isClass(requiredAcr)) return 'the acr is not one required'
  if (!isClass(acrValues)) return 'the acr is not one that was asked for'
  if (!requiredAmr.every((method) => amr.includes(method))) return 'the amr lacks a required method'
  return lackOfTime(authentication, { ...demand, nowMs })
}

function lackOfTime(
  { authTimeMs, isAuthTimeAssumed }: Authentication,
  { maxAgeSeconds, mustStateTime, nowMs }: DemandedSignIn & { readonly nowMs: number },
): string | undefined {
  if (maxAgeSeconds === null) return undefined
  if (mustStateTime === true && isAuthTimeAssumed === true) return 'auth_time is missing'
  const ageSeconds = (nowMs - authTimeMs) / 1000
  return ageSeconds > maxAgeSeconds + CLOCK_TOLERANCE_SECONDS ? 'the authentication is too old' : undefined
}
