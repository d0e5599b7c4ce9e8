import { createLocalJWKSet, decodeJwt, jwtVerify, type JWK } from 'jose'
import { describe, expect, it } from 'vitest'
import { readVectors } from '../../../../support/run/vectors.ts'

interface Session {
  readonly session_id: string
  readonly kind: string
  readonly target: string
}

interface Shown {
  readonly token: string
  readonly node_id: string
  /** Unix seconds. */
  readonly now: number
  readonly sessions: readonly Session[]
}

const { vectors, keys } = readVectors<Shown, { session_id: string } | { fault: string }>('session-token')
/** With the `exp` that the server adds (`SigningKey`). */
const jwks = keys as { readonly keys: (JWK & { readonly exp?: number })[] }

/** What jose finds wrong, in the words of the vectors. */
const FAULTS: Readonly<Record<string, string>> = {
  ERR_JWS_INVALID: 'malformed',
  ERR_JWT_INVALID: 'malformed',
  ERR_JOSE_ALG_NOT_ALLOWED: 'wrong_algorithm',
  ERR_JWKS_NO_MATCHING_KEY: 'unknown_key',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'bad_signature',
}

/** The steps of the protocol document, with jose for the first of them. */
async function admit({ token, node_id, now, sessions }: Shown): Promise<object> {
  const currentDate = new Date(0)
  const verified = await jwtVerify(token, createLocalJWKSet(jwks), { algorithms: ['EdDSA'], currentDate }).catch(
    (error: { code: string }) => FAULTS[error.code] ?? error.code,
  )
  if (typeof verified === 'string') return { fault: verified }
  const { payload, protectedHeader } = verified
  const key = jwks.keys.find(({ kid }) => kid === protectedHeader.kid)
  if ((payload.iat ?? 0) >= (key?.exp ?? Infinity)) return { fault: 'expired_key' }
  if (payload.aud !== node_id) return { fault: 'wrong_node' }
  if (now >= (payload.exp ?? 0)) return { fault: 'expired' }
  const session = sessions.find(({ session_id }) => session_id === payload.jti)
  if (session === undefined) return { fault: 'not_live' }
  const isSame = session.kind === payload['kind'] && session.target === payload['target']
  return isSame ? { session_id: session.session_id } : { fault: 'wrong_session' }
}

describe('The vectors of session tokens', () => {
  it.each(vectors)('$name', async ({ input, expected }) => {
    expect(await admit(input)).toEqual(expected)
  })

  it('have the claims that the server signs', () => {
    expect(Object.keys(decodeJwt(vectors[0]?.input.token ?? ''))).toEqual([
      'iss',
      'sub',
      'aud',
      'jti',
      'kind',
      'target',
      'iat',
      'exp',
    ])
  })
})
