import { decodeJwt, decodeProtectedHeader, jwtVerify, type JWTPayload } from 'jose'
import { algorithmsOf, importKey, type StoredKey } from './public-key.ts'
import { AssertionRefused } from './refusal.ts'

/** How far the clock of a workload may be ahead: an assertion that becomes valid within this time is accepted. */
const AHEAD_SECONDS = 30

/** The requirements on an assertion, besides its signature. */
export interface AssertionRules {
  /** Any of them, as the only audience or among others (RFC 7523 §3). */
  readonly audiences: readonly string[]
  /** How far ahead `exp` may be. */
  readonly lifetimeSecondsMax: number
  readonly nowMs: number
}

/** The claims of a verified assertion. */
export interface Verified {
  readonly subject: string
  readonly issuer: string | undefined
  readonly jti: string | undefined
  readonly expiresAt: Date
}

/** An unvalidated header. */
export interface ClaimedHeader {
  readonly typ?: unknown
  readonly kid?: unknown
  readonly alg?: unknown
}

/** Reads the header of a compact JWS; it is untrusted. @throws AssertionRefused */
export function headerOf(assertion: string, types: readonly string[]): ClaimedHeader {
  const header: ClaimedHeader = decoded(() => decodeProtectedHeader(assertion))
  const { typ } = header
  const isOurs = typ === undefined || (typeof typ === 'string' && types.includes(typ.toLowerCase()))
  if (!isOurs) throw new AssertionRefused('its typ is another')
  return header
}

/** The claimed `sub` of the assertion, before it is verified. @throws AssertionRefused */
export function claimedSubject(assertion: string): unknown {
  return decoded(() => decodeJwt(assertion)).sub
}

function decoded<T>(decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    throw new AssertionRefused('it is no JWT', error)
  }
}

/**
 * Verifies signature and times of an assertion with that key only: keys and key addresses in its header
 * are ignored, and the algorithm must be one of the key's.
 *
 * @throws AssertionRefused
 */
export async function verifyAssertion(assertion: string, key: StoredKey, rules: AssertionRules): Promise<Verified> {
  const payload = await verified(assertion, key, rules)
  const { sub, iss, jti } = payload
  if (typeof sub !== 'string') throw new AssertionRefused('its sub is no text')
  if (iss !== undefined && typeof iss !== 'string') throw new AssertionRefused('its iss is no text')
  if (jti !== undefined && (typeof jti !== 'string' || jti === '')) throw new AssertionRefused('its jti is no text')
  return { subject: sub, issuer: iss, jti, expiresAt: endOf(payload, rules) }
}

/** Stricter than the library, which grants `exp` the same tolerance as `nbf`, and does not look at `iat`. */
function endOf({ exp = 0, iat }: JWTPayload, { nowMs, lifetimeSecondsMax }: AssertionRules): Date {
  const now = nowMs / 1000
  if (exp <= now) throw new AssertionRefused('it has expired')
  if (exp > now + lifetimeSecondsMax) throw new AssertionRefused('its exp is too far ahead')
  if (iat !== undefined && (typeof iat !== 'number' || iat > now + AHEAD_SECONDS)) {
    throw new AssertionRefused('its iat is in the future')
  }
  return new Date(Math.ceil(exp) * 1000)
}

async function verified(assertion: string, key: StoredKey, rules: AssertionRules): Promise<JWTPayload> {
  try {
    const algorithms = [...algorithmsOf(key)]
    const { payload } = await jwtVerify(assertion, ({ alg }) => importKey(key, alg), {
      algorithms,
      audience: [...rules.audiences],
      currentDate: new Date(rules.nowMs),
      clockTolerance: AHEAD_SECONDS,
      requiredClaims: ['sub', 'exp'],
    })
    return payload
  } catch (error) {
    throw new AssertionRefused(error instanceof Error ? error.message : 'its key cannot be used', error)
  }
}
