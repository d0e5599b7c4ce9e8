import { createSecretKey, randomBytes } from 'node:crypto'
import { expect, it, test } from 'vitest'
import { sealEdgeKey } from '../../../../../src/server/slices/mesh-keys/seal-edge-key.ts'
import { openEdgeEnvelope } from '../../../../../src/shared/mesh/edge-envelope.ts'
import type { EdgeEnd } from '../../../../../src/shared/mesh/edge-key.ts'
import { readVectors } from '../../../../support/run/vectors.ts'

interface End {
  readonly node_id: string
  readonly psk_hex: string
}

const { vectors } = readVectors<{ one: End; other: End }, { edge_key_hex: string }>('edge-key')

const endOf = ({ node_id, psk_hex }: End): EdgeEnd => ({ nodeId: node_id, psk: Buffer.from(psk_hex, 'hex') })

it.each(vectors)('what is sealed is the key of the edge: $name', ({ input, expected }) => {
  const [one, other] = [endOf(input.one), endOf(input.other)]
  const key = randomBytes(32)
  const place = { nodeId: one.nodeId, peerNodeId: other.nodeId, epoch: 'x|y' }
  const envelope = sealEdgeKey([one, other], createSecretKey(key), place)
  const opened = openEdgeEnvelope(envelope, key, place)
  expect(opened.ok && Buffer.from(opened.edgeKey).toString('hex')).toBe(expected.edge_key_hex)
})

test('every envelope has a nonce of its own', () => {
  const ends: [EdgeEnd, EdgeEnd] = [
    { nodeId: 'a', psk: randomBytes(32) },
    { nodeId: 'b', psk: randomBytes(32) },
  ]
  const key = createSecretKey(randomBytes(32))
  const place = { nodeId: 'a', peerNodeId: 'b', epoch: 'x|y' }
  const nonces = Array.from({ length: 1_000 }, () => sealEdgeKey(ends, key, place).subarray(0, 12).toString('hex'))
  expect(new Set(nonces).size).toBe(1_000)
})
