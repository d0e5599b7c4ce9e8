import { hkdfSync, randomBytes, randomUUID } from 'node:crypto'
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { edgeKeyInput, type EdgeEnd } from '../../../../src/shared/mesh/edge-key.ts'
import { readVectors } from '../../../support/run/vectors.ts'

interface End {
  readonly node_id: string
  readonly psk_hex: string
}

const { vectors } = readVectors<{ one: End; other: End }, { info: string; edge_key_hex: string }>('edge-key')

const endOf = ({ node_id, psk_hex }: End): EdgeEnd => ({ nodeId: node_id, psk: Buffer.from(psk_hex, 'hex') })

const LIBRARIES = {
  noble: (ikm: Uint8Array, info: string) => hkdf(sha256, ikm, undefined, Buffer.from(info), 32),
  'node:crypto': (ikm: Uint8Array, info: string) => new Uint8Array(hkdfSync('sha256', ikm, '', info, 32)),
}

describe.each(Object.entries(LIBRARIES))('The key of an edge, derived with %s', (_, derive) => {
  it.each(vectors)('$name', ({ input, expected }) => {
    const { ikm, info } = edgeKeyInput(endOf(input.one), endOf(input.other))
    expect(info).toBe(expected.info)
    expect(Buffer.from(derive(ikm, info)).toString('hex')).toBe(expected.edge_key_hex)
  })
})

it('the key of an edge is the same from both ends, and another for any other peer', () => {
  const end = fc.record({ nodeId: fc.uuid(), psk: fc.uint8Array({ minLength: 32, maxLength: 32 }) })
  fc.assert(
    fc.property(end, end, end, (one, other, third) => {
      fc.pre(new Set([one.nodeId, other.nodeId, third.nodeId]).size === 3)
      expect(edgeKeyInput(one, other)).toEqual(edgeKeyInput(other, one))
      expect(edgeKeyInput(one, other).info).not.toBe(edgeKeyInput(one, third).info)
    }),
  )
})

it('of the same ids, another preshared key at either end gives another edge key', () => {
  const [one, other] = [
    { nodeId: randomUUID(), psk: randomBytes(32) },
    { nodeId: randomUUID(), psk: randomBytes(32) },
  ]
  const keyOf = (a: EdgeEnd, b: EdgeEnd): string => {
    const { ikm, info } = edgeKeyInput(a, b)
    return Buffer.from(LIBRARIES.noble(ikm, info)).toString('hex')
  }
  const keys = new Set([
    keyOf(one, other),
    keyOf({ ...one, psk: randomBytes(32) }, other),
    keyOf(one, { ...other, psk: randomBytes(32) }),
    keyOf({ ...one, psk: other.psk }, { ...other, psk: one.psk }),
  ])
  expect(keys.size).toBe(4)
})
