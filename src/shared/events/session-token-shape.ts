import { constant, integer, object, oneOf, text, type Shape } from '../shapes.ts'
import { SESSION_KINDS, type SessionKind } from './wire-types.ts'

/** The header of the token of a mediated session (RFC 7519, RFC 8037 §3.1). */
export interface SessionTokenHeader {
  readonly alg: 'EdDSA'
  /** The key that signed, one of `GET /v1/signing-keys`. */
  readonly kid: string
  readonly typ: 'JWT'
}

/** What the token of a mediated session says to the node that admits its holder. */
export interface SessionTokenClaims {
  readonly iss: string
  readonly sub: string
  readonly aud: string
  readonly jti: string
  readonly kind: SessionKind
  readonly target: string
  /** In seconds since the epoch, as is `exp`. */
  readonly iat: number
  readonly exp: number
}

export const SESSION_TOKEN_HEADER: Shape<SessionTokenHeader> = object<SessionTokenHeader>({
  alg: constant('EdDSA'),
  kid: text({ description: 'The key that signed, one of `GET /v1/signing-keys`' }),
  typ: constant('JWT'),
})

export const SESSION_TOKEN_CLAIMS: Shape<SessionTokenClaims> = object<SessionTokenClaims>({
  iss: text({ format: 'uri', description: 'Base URL of the server' }),
  sub: text({ description: 'Who asked for it: `user:…` or `serviceaccount:…`' }),
  aud: text({ format: 'uuid', description: 'The node' }),
  jti: text({ format: 'uuid', description: 'The session' }),
  kind: oneOf(SESSION_KINDS),
  target: text({ description: 'That of the session' }),
  iat: integer({ description: 'Unix seconds' }),
  exp: integer({ description: 'Unix seconds' }),
})
