import { bytesOf } from '../audit/signed-position.ts'
import { isMembers, type Members } from '../shapes.ts'
import type { SessionTokenClaims, SessionTokenHeader } from './session-token-shape.ts'
import { verifyWithNoble, type VerifierDeps } from './verifier.ts'
import type { SessionSetupPayload } from './wire-types.ts'

/** Why the token of a mediated session is refused, in the order in which the faults are found. */
export const SESSION_TOKEN_FAULTS = [
  'malformed',
  'wrong_algorithm',
  'unknown_key',
  'bad_signature',
  'expired_key',
  'wrong_node',
  'expired',
  'not_live',
  'wrong_session',
] as const
export type SessionTokenFault = (typeof SESSION_TOKEN_FAULTS)[number]

/** Claims that a published key signed. Each may be absent or of another type. */
export type SignedClaims = Readonly<Partial<Record<keyof SessionTokenClaims, unknown>>>

export type VerifiedToken =
  | { readonly ok: true; readonly claims: SignedClaims }
  | { readonly ok: false; readonly fault: SessionTokenFault }

/** The node that is asked, and its time in Unix seconds. */
export interface TokenTerms {
  readonly nodeId: string
  readonly nowSeconds: number
}

/** Verifies a token for a node. Whether its session is live is `sessionOf`'s part. Rejects where a key cannot be looked up. */
export type SessionTokenVerifier = (token: string, terms: TokenTerms) => Promise<VerifiedToken>

/** Creates a verifier of session tokens: JWTs (RFC 7519) under EdDSA (RFC 8037 §3.1). */
export function createSessionTokenVerifier({ findKey, verify = verifyWithNoble }: VerifierDeps): SessionTokenVerifier {
  return async (token, terms) => {
    const read = readToken(token)
    if (read === undefined) return refused('malformed')
    const { header, claims, signed, signature } = read
    if (header.alg !== 'EdDSA') return refused('wrong_algorithm')
    const key = typeof header.kid === 'string' ? await findKey(header.kid) : undefined
    if (key === undefined) return refused('unknown_key')
    if (!(await verify(signature, signed, key.publicKey))) return refused('bad_signature')
    if (key.notAfterMs !== undefined && !isBefore(claims.iat, key.notAfterMs)) return refused('expired_key')
    if (claims.aud !== terms.nodeId) return refused('wrong_node')
    return isAfter(claims.exp, terms.nowSeconds) ? { ok: true, claims } : refused('expired')
  }
}

/** The live session that verified claims belong to, or why there is none. */
export function sessionOf<Session extends Pick<SessionSetupPayload, 'kind' | 'target'>>(
  { jti, kind, target }: SignedClaims,
  liveSessions: ReadonlyMap<string, Session>,
): Session | Extract<SessionTokenFault, 'not_live' | 'wrong_session'> {
  const session = typeof jti === 'string' ? liveSessions.get(jti) : undefined
  if (session === undefined) return 'not_live'
  return session.kind === kind && session.target === target ? session : 'wrong_session'
}

function refused(fault: SessionTokenFault): VerifiedToken {
  return { ok: false, fault }
}

interface ReadToken {
  readonly header: Readonly<Partial<Record<keyof SessionTokenHeader, unknown>>>
  readonly claims: SignedClaims
  readonly signed: Uint8Array
  readonly signature: Uint8Array
}

/** The parts of a token; undefined unless there are three of base64url, two of them JSON objects. */
function readToken(token: string): ReadToken | undefined {
  const parts = token.split('.')
  const [headerText = '', claimsText = '', signatureText = ''] = parts
  const [header, claims, signature] = [objectIn(headerText), objectIn(claimsText), bytesOf(signatureText)]
  if (parts.length !== 3 || header === undefined || claims === undefined || signature === undefined) return undefined
  return { header, claims, signed: new TextEncoder().encode(`${headerText}.${claimsText}`), signature }
}

function objectIn(part: string): Members | undefined {
  const bytes = bytesOf(part)
  if (bytes === undefined) return undefined
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return isMembers(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isBefore(seconds: unknown, ms: number): boolean {
  return typeof seconds === 'number' && seconds * 1000 < ms
}

function isAfter(seconds: unknown, nowSeconds: number): boolean {
  return typeof seconds === 'number' && seconds > nowSeconds
}
