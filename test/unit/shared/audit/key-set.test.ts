import { describe, expect, it } from 'vitest'
import { readKeySet } from '../../../../src/shared/audit/key-set.ts'

const X = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'
const KEY = { kty: 'OKP', crv: 'Ed25519', kid: 'k1', x: X, alg: 'EdDSA', use: 'sig' }

describe('A JWK Set', () => {
  it('gives its Ed25519 keys with their time', () => {
    expect(
      readKeySet({
        keys: [
          { ...KEY, nbf: 1_772_352_000, exp: 1_772_352_060 },
          { kty: 'RSA', kid: 'r' },
        ],
      }),
    ).toEqual([
      {
        kid: 'k1',
        publicKey: new Uint8Array(Buffer.from(X, 'base64url')),
        notBeforeMs: 1_772_352_000_000,
        notAfterMs: 1_772_352_060_000,
      },
    ])
  })

  it('may leave the time of a key open', () => {
    expect(readKeySet({ keys: [KEY] })).toMatchObject([{ notBeforeMs: undefined, notAfterMs: undefined }])
  })

  it.each<[string, unknown, string]>([
    ['a list', [KEY], 'it is no JWK Set: there is no array "keys"'],
    ['one key alone', KEY, 'it is no JWK Set: there is no array "keys"'],
    ['no Ed25519 key', { keys: [{ kty: 'RSA' }] }, 'it holds no Ed25519 key (kty OKP, crv Ed25519)'],
    ['a key without its id', { keys: [{ ...KEY, kid: undefined }] }, 'one of its keys has no "kid"'],
    ['a key that is too short', { keys: [{ ...KEY, x: 'AAAA' }] }, 'its key k1 has no "x" of 32 bytes in base64url'],
  ])('is refused with %s', (_what, value, message) => {
    expect(() => readKeySet(value)).toThrow(new TypeError(message))
  })
})
