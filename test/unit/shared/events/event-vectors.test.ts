import { createPublicKey, verify } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { readKeySet } from '../../../../src/shared/audit/key-set.ts'
import { readSigned } from '../../../../src/shared/events/signed-envelope.ts'
import { createEnvelopeVerifier, keysIn, verifyWithNoble } from '../../../../src/shared/events/verifier.ts'
import { vector, vectorKey } from '../../../support/events/event-vectors.ts'
import { readVectors } from '../../../support/run/vectors.ts'

type Expected =
  | {
      readonly node_seq: number
      readonly type: string
      readonly signed_text: string
      readonly signature: string
    }
  | { readonly fault: string }

const { keys, vectors } = readVectors<{ data: string; node_id: string }, Expected>('event-signature')

const verifyWithNode = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean => {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey).toString('base64url') }
  return verify(null, message, createPublicKey({ key: jwk, format: 'jwk' }), signature)
}

describe.each([
  ['noble', verifyWithNoble],
  ['node:crypto', verifyWithNode],
])('An event of the stream, verified with %s', (_, verifySignature) => {
  const verifies = createEnvelopeVerifier({ findKey: keysIn(readKeySet(keys)), verify: verifySignature })

  it.each(vectors)('$name', async ({ input, expected }) => {
    const verification = await verifies(input.data, { nodeId: input.node_id })
    if (!verification.ok) {
      expect({ fault: verification.fault }).toEqual(expected)
      return
    }
    const read = readSigned(input.data)
    if (!read.ok) throw new Error('what verifies can be read')
    const { node_seq, type } = verification.envelope
    const { canonical: signed_text, signature } = read.signed
    expect({ node_seq, type, signed_text, signature }).toEqual(expected)
  })
})

it('the published vectors are signed as the tests of this repository sign', () => {
  expect(vectors[0]?.input.data).toBe(vector(vectorKey('key-1', 7), { node_seq: 1 }).wire)
})
