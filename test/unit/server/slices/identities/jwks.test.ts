import { generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { requirePublicKeys } from '../../../../../src/server/slices/identities/jwks.ts'

const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve })
const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength })
const jwkOf = (key: { export(options: { format: 'jwk' }): JsonWebKey }) => ({ ...key.export({ format: 'jwk' }) })

const ed25519 = generateKeyPairSync('ed25519')
const x25519 = generateKeyPairSync('x25519')
const p256 = ec('P-256')

describe('a key set', () => {
  it.each([
    ['EC on P-256', jwkOf(p256.publicKey)],
    ['EC on P-384', jwkOf(ec('P-384').publicKey)],
    ['EC on P-521', jwkOf(ec('P-521').publicKey)],
    ['RSA of 2048 bits', jwkOf(rsa(2048).publicKey)],
    ['Ed25519', jwkOf(ed25519.publicKey)],
    ['a key with more members', { ...jwkOf(p256.publicKey), use: 'sig', kid: 'a', alg: 'ES256' }],
  ])('may hold %s', (_what, key) => {
    expect(() => requirePublicKeys({ keys: [key] })).not.toThrow()
  })

  it.each([
    ['a private EC key', jwkOf(p256.privateKey)],
    ['a private RSA key', jwkOf(rsa(2048).privateKey)],
    ['a private Ed25519 key', jwkOf(ed25519.privateKey)],
    ['a symmetric key', { kty: 'oct', k: 'c2VjcmV0' }],
    ['an empty private member', { ...jwkOf(p256.publicKey), d: '' }],
    ['RSA of 1024 bits', jwkOf(rsa(1024).publicKey)],
    ['a key that signs nothing', jwkOf(x25519.publicKey)],
    ['a curve without a signature algorithm of its own', jwkOf(ec('secp256k1').publicKey)],
    ['a point off the curve', { ...jwkOf(p256.publicKey), x: jwkOf(p256.publicKey)['y'] }],
    ['a key for encryption', { ...jwkOf(p256.publicKey), use: 'enc' }],
    ['nothing', {}],
    ['members of the wrong type', { kty: 1, crv: [], x: {} }],
  ])('may not hold %s', (_what, key) => {
    expect(() => requirePublicKeys({ keys: [jwkOf(p256.publicKey), key] })).toThrow(
      expect.objectContaining({
        code: 'invalid_service_identity',
        extras: { errors: [{ pointer: '/jwks/keys/1', detail: expect.any(String) }] },
      }),
    )
  })
})
