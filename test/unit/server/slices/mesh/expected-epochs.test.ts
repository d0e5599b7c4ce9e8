import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createExpectation } from '../../../../../src/server/slices/mesh/expected-epochs.ts'
import { formatPskIssuedAt } from '../../../../../src/shared/mesh/psk-instant.ts'
import { digestEpochs } from '../../../../../src/shared/mesh/epoch-digest.ts'

const issued = fc.bigInt({ min: 0n, max: 4_102_444_800_000_000_000n }).map(formatPskIssuedAt)
const fleets = fc
  .uniqueArray(fc.record({ id: fc.uuid(), issued }), { minLength: 1, maxLength: 12, selector: ({ id }) => id })
  .map((nodes) => nodes.toSorted((one, other) => (one.id < other.id ? -1 : 1)))

describe('What a node is expected to report', () => {
  it('is what its agent digests from the same instants, whichever node is asked about first', () => {
    fc.assert(
      fc.property(fleets, fc.boolean(), (nodes, isReversed) => {
        const expectation = createExpectation(nodes)
        for (const node of isReversed ? nodes.toReversed() : nodes) {
          const peers = nodes.filter(({ id }) => id !== node.id)
          const epochs = new Map(peers.map((peer) => [peer.id, `${node.issued}|${peer.issued}`]))
          expect(expectation(node)).toEqual(digestEpochs(epochs))
        }
      }),
    )
  })

  it('of a node alone is the digest of nothing', () => {
    const node = { id: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b', issued: '2026-11-21T09:30:00.123000000Z' }
    expect(createExpectation([node])(node)).toEqual({
      count: 0,
      sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    })
  })
})
