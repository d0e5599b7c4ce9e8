import { problem } from '../../../shared/problems.ts'
import type { SessionTokenClaims, SessionTokenHeader } from '../../../shared/events/session-token-shape.ts'
import type { Signer } from '../../ports/signer.ts'
import type { NewSession } from './session.ts'

/** Two attempts, in case the key changes in between. */
const KEYS_MAX = 2

/**
 * Creates the token that the node accepts: a JWT (RFC 7519) under EdDSA (RFC 8037 §3.1), to be verified with `GET /v1/signing-keys`.
 * The signed text names the key: if another key signed, the token is built again. Nothing is stored.
 *
 * @throws Problem `signing_unavailable`.
 */
export async function signToken(
  signer: Pick<Signer, 'keys' | 'sign'>,
  session: NewSession,
  issuer: string,
): Promise<string> {
  const claims = encoded(claimsOf(session, issuer))
  let named = signer.keys()[0]?.kid
  for (let tries = 0; tries < KEYS_MAX && named !== undefined; tries += 1) {
    const signed = `${encoded({ alg: 'EdDSA', kid: named, typ: 'JWT' } satisfies SessionTokenHeader)}.${claims}`
    const { kid, signature } = await signer.sign(Buffer.from(signed))
    if (kid === named) return `${signed}.${signature.toString('base64url')}`
    named = kid
  }
  throw problem('signing_unavailable')
}

function claimsOf(session: NewSession, issuer: string): SessionTokenClaims {
  const { id, node_id, kind, target, issued_by, issued_at, expires_at } = session
  return {
    iss: issuer,
    sub: issued_by,
    aud: node_id,
    jti: id,
    kind,
    target,
    iat: secondsOf(issued_at),
    exp: secondsOf(expires_at),
  }
}

/** Whole seconds, rounded down: the unit that verifiers compare, and never later than the row. */
function secondsOf(instant: Date): number {
  return Math.floor(instant.getTime() / 1000)
}

function encoded(json: unknown): string {
  return Buffer.from(JSON.stringify(json)).toString('base64url')
}
