import { errors, jwtVerify } from 'jose'
import type { IdpBinding } from '../../ports/idp-bindings.ts'
import type { Issuers } from '../../ports/issuers.ts'
import type { Claims } from './person.ts'
import { CLOCK_TOLERANCE_SECONDS } from './authentication-strength.ts'

/**
 * Verifies the signature of an ID token and the claims that do not depend on the request (OpenID Connect Core §3.1.3.7):
 * an algorithm that the binding pins, the issuer's key, issuer, audience, authorized party, times. Not the nonce.
 *
 * @throws JOSEError; Problem `idp_unavailable` when the issuer's keys are not available.
 */
export async function verifyIdToken(
  token: string,
  { binding, issuers, nowMs }: { readonly binding: IdpBinding; readonly issuers: Issuers; readonly nowMs: number },
): Promise<Claims> {
  const { payload, protectedHeader } = await jwtVerify(token, (header) => issuers.key(binding, header), {
    algorithms: [...binding.algorithms],
    issuer: binding.issuer,
    audience: binding.clientId,
    currentDate: new Date(nowMs),
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    requiredClaims: ['sub', 'exp', 'iat'],
  })
  // An access token (RFC 9068) or a logout token has a type of its own.
  if (!/^(?:application\/)?jwt$/i.test(protectedHeader.typ ?? 'JWT')) throw refused('unexpected "typ" of an ID token')
  if (payload['azp'] !== undefined && payload['azp'] !== binding.clientId) throw refused('unexpected "azp" claim value')
  if ((payload.iat ?? 0) * 1000 > nowMs + CLOCK_TOLERANCE_SECONDS * 1000) throw refused('"iat" is in the future')
  return payload
}

function refused(message: string): errors.JWTInvalid {
  return new errors.JWTInvalid(message)
}
