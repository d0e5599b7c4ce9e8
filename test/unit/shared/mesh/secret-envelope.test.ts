import { createDecipheriv } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  openSecretEnvelope,
  sealSecretEnvelope,
  SECRET_OVERHEAD_BYTES,
  type SecretPlace,
} from '../../../../src/shared/mesh/secret-envelope.ts'
import { readVectors } from '../../../support/run/vectors.ts'

interface Input {
  readonly nsk_key_hex: string
  readonly node_id: string
  readonly ref: string
  readonly version: number
  readonly envelope_hex: string
}
type Expected = { readonly secret: string } | { readonly fault: string }

const { vectors } = readVectors<Input, Expected>('node-secrets')

const bytes = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'))

/** What a program opens an envelope with that has OpenSSL and the protocol's document, and nothing of this repository. */
function openWithNode({ nsk_key_hex, node_id, ref, version, envelope_hex }: Input): Expected {
  const envelope = Buffer.from(envelope_hex, 'hex')
  if (envelope.length < 28) return { fault: 'wrong_length' }
  const decipher = createDecipheriv('aes-256-gcm', bytes(nsk_key_hex), envelope.subarray(0, 12))
  const withVersion = ref.split(':').length === 3 ? ref : `${ref}:${version}`
  decipher.setAAD(Buffer.from(`service/secrets/v1|${node_id.toLowerCase()}|${withVersion}`))
  decipher.setAuthTag(envelope.subarray(-16))
  try {
    return { secret: Buffer.concat([decipher.update(envelope.subarray(12, -16)), decipher.final()]).toString() }
  } catch {
    return { fault: 'not_authentic' }
  }
}

function openHere({ nsk_key_hex, node_id, ref, version, envelope_hex }: Input): Expected {
  const opened = openSecretEnvelope(bytes(envelope_hex), bytes(nsk_key_hex), { nodeId: node_id, ref, version })
  return opened.ok ? { secret: Buffer.from(opened.secret).toString() } : { fault: opened.fault }
}

describe.each([
  ['noble', openHere],
  ['node:crypto', openWithNode],
])('The envelope of a secret, opened with %s', (_, open) => {
  it.each(vectors)('$name', ({ input, expected }) => {
    expect(open(input)).toEqual(expected)
  })
})

const slug = fc.stringMatching(/^[a-z0-9]{1,8}$/)
const number = fc.integer({ min: 1, max: 999_999_999 })
const version = fc.option(number)
const ref = fc
  .tuple(slug, slug, slug, version)
  .map(([domain, project, name, of]) => `secret:${domain}/${project}/${name}${of === null ? '' : `:${of}`}`)
const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
const nonce = fc.uint8Array({ minLength: 12, maxLength: 12 })
const place: fc.Arbitrary<SecretPlace> = fc.record({ nodeId: fc.uuid(), ref, version: number })

it('what was sealed for a place opens there, and is 28 bytes longer', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), key, fc.tuple(nonce, place), (secret, under, [once, at]) => {
      const envelope = sealSecretEnvelope(secret, { key: under, nonce: once }, at)
      expect(envelope.length).toBe(secret.length + SECRET_OVERHEAD_BYTES)
      expect(openSecretEnvelope(envelope, under, at)).toEqual({ ok: true, secret })
    }),
  )
})

it('with any one bit flipped it does not open', () => {
  const [under, once] = [new Uint8Array(32).fill(2), new Uint8Array(12).fill(9)]
  const at = { nodeId: 'a', ref: 'secret:a/b/c', version: 1 }
  const envelope = sealSecretEnvelope(new Uint8Array(20).fill(1), { key: under, nonce: once }, at)
  for (let bit = 0; bit < envelope.length * 8; bit++) {
    const altered = envelope.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
    expect(openSecretEnvelope(altered, under, at)).toEqual({ ok: false, fault: 'not_authentic' })
  }
})

it('a key or a nonce of another length is the mistake of the caller', () => {
  const at = { nodeId: 'a', ref: 'secret:a/b/c', version: 1 }
  const [envelope, under] = [new Uint8Array(28), new Uint8Array(32)]
  expect(() => openSecretEnvelope(envelope, new Uint8Array(31), at)).toThrow(RangeError)
  expect(() => sealSecretEnvelope(envelope, { key: new Uint8Array(33), nonce: new Uint8Array(12) }, at)).toThrow(
    RangeError,
  )
  expect(() => sealSecretEnvelope(envelope, { key: under, nonce: new Uint8Array(11) }, at)).toThrow(RangeError)
})
