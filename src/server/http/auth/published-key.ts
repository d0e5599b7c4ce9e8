import type { z } from 'zod'
import type { SigningKey } from '../../../shared/contract/signing-keys.ts'
import type { VerificationKey } from '../../ports/signer.ts'

/** A verification key as every answer shows it: a JWK of RFC 8037 §2, with instants for people. */
export function publishedKey(key: VerificationKey): z.output<typeof SigningKey> {
  const { kid, publicKey, notBefore, notAfter, signsFrom, state } = key
  return {
    kty: 'OKP',
    crv: 'Ed25519',
    x: publicKey.toString('base64url'),
    kid,
    alg: 'EdDSA',
    use: 'sig',
    nbf: Math.floor(notBefore.getTime() / 1000),
    ...(notAfter !== undefined && { exp: Math.floor(notAfter.getTime() / 1000) }),
    state,
    signs_from: signsFrom.toISOString(),
    not_before: notBefore.toISOString(),
    not_after: notAfter?.toISOString() ?? null,
  }
}
