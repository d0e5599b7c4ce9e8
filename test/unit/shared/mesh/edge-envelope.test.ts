import { createDecipheriv } from 'node:crypto'
import { gcm } from '@noble/ciphers/aes.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { envelopeAad, openEdgeEnvelope, type EnvelopePlace } from '../../../../src/shared/mesh/edge-envelope.ts'
import { readVectors } from '../../../support/run/vectors.ts'

interface Input {
  readonly nsk_key_hex: string
  readonly node_id: string
  readonly peer_node_id: string
  readonly epoch: string
  readonly envelope_hex: string
}
type Expected = { readonly edge_key_hex: string } | { readonly fault: string }

const { vectors } = readVectors<Input, Expected>('edge-envelope')

const bytes = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'))
const placeOf = ({ node_id, peer_node_id, epoch }: Input): EnvelopePlace => ({
  nodeId: node_id,
  peerNodeId: peer_node_id,
  epoch,
})

/** What a program opens an envelope with that has OpenSSL and this document, and nothing of this repository. */
function openWithNode(input: Input): Expected {
  const envelope = Buffer.from(input.envelope_hex, 'hex')
  if (envelope.length !== 60) return { fault: 'wrong_length' }
  const decipher = createDecipheriv('aes-256-gcm', bytes(input.nsk_key_hex), envelope.subarray(0, 12))
  const [id, peer] = [input.node_id.toLowerCase(), input.peer_node_id.toLowerCase()]
  decipher.setAAD(Buffer.from(`service/mesh/edge-psk/v1|${id}|${peer}|${input.epoch}`))
  decipher.setAuthTag(envelope.subarray(44))
  try {
    const key = Buffer.concat([decipher.update(envelope.subarray(12, 44)), decipher.final()])
    return { edge_key_hex: key.toString('hex') }
  } catch {
    return { fault: 'not_authentic' }
  }
}

function openHere(input: Input): Expected {
  const opened = openEdgeEnvelope(bytes(input.envelope_hex), bytes(input.nsk_key_hex), placeOf(input))
  return opened.ok ? { edge_key_hex: Buffer.from(opened.edgeKey).toString('hex') } : { fault: opened.fault }
}

describe.each([
  ['noble', openHere],
  ['node:crypto', openWithNode],
])('An envelope, opened with %s', (_, open) => {
  it.each(vectors)('$name', ({ input, expected }) => {
    expect(open(input)).toEqual(expected)
  })
})

const key32 = fc.uint8Array({ minLength: 32, maxLength: 32 })
const place = fc.record({ nodeId: fc.uuid(), peerNodeId: fc.uuid(), epoch: fc.string() })

function seal(edgeKey: Uint8Array, key: Uint8Array, at: EnvelopePlace): Uint8Array {
  const nonce = new Uint8Array(12).fill(9)
  return new Uint8Array([...nonce, ...gcm(key, nonce, envelopeAad(at)).encrypt(edgeKey)])
}

it('what was sealed for a place opens there', () => {
  fc.assert(
    fc.property(key32, key32, place, (edgeKey, key, at) => {
      expect(openEdgeEnvelope(seal(edgeKey, key, at), key, at)).toEqual({ ok: true, edgeKey })
    }),
  )
})

it('with any one bit of the envelope flipped it does not open', () => {
  const [edgeKey, key] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
  const at = { nodeId: 'a', peerNodeId: 'b', epoch: 'c|d' }
  const sealed = seal(edgeKey, key, at)
  for (let bit = 0; bit < 60 * 8; bit++) {
    const altered = sealed.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
    expect(openEdgeEnvelope(altered, key, at)).toEqual({ ok: false, fault: 'not_authentic' })
  }
})

it('of any other length it is refused as such', () => {
  const lengths = fc.uint8Array({ maxLength: 200 }).filter(({ length }) => length !== 60)
  fc.assert(
    fc.property(lengths, (envelope) => {
      const opened = openEdgeEnvelope(envelope, new Uint8Array(32), { nodeId: 'a', peerNodeId: 'b', epoch: '' })
      expect(opened).toEqual({ ok: false, fault: 'wrong_length' })
    }),
  )
})

it('a key of another length is the mistake of whoever passes it', () => {
  const at = { nodeId: 'a', peerNodeId: 'b', epoch: '' }
  expect(() => openEdgeEnvelope(new Uint8Array(60), new Uint8Array(31), at)).toThrow(RangeError)
})
