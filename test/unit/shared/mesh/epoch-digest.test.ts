import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEpochDigest, digestEpochs, type RunningSha256 } from '../../../../src/shared/mesh/epoch-digest.ts'
import { readVectors } from '../../../support/run/vectors.ts'

const { vectors } = readVectors<{ epochs: Record<string, string> }, { count: number; sha256: string }>('epoch-digest')

function runningNode(): RunningSha256 {
  const hash = createHash('sha256')
  return { update: (text) => void hash.update(text), hex: () => hash.digest('hex') }
}

describe('The digest of epochs', () => {
  it.each(vectors)('$name', ({ input, expected }) => {
    expect(digestEpochs(new Map(Object.entries(input.epochs)))).toEqual(expected)
    const digest = createEpochDigest(runningNode())
    for (const [peer, epoch] of Object.entries(input.epochs).toSorted()) digest.add(peer, epoch)
    expect(digest.report()).toEqual(expected)
  })

  it('is the same in whatever order they are known, and with either library', () => {
    const epochs = fc.dictionary(fc.uuid(), fc.string(), { maxKeys: 20 }).map((known) => Object.entries(known))
    fc.assert(
      fc.property(epochs, fc.func(fc.integer()), (known, rank) => {
        const digest = createEpochDigest(runningNode())
        const byId = known.toSorted(([one], [other]) => (one < other ? -1 : 1))
        for (const [peer, epoch] of byId) digest.add(peer, epoch)
        const shuffled = known.toSorted(([one], [other]) => rank(one) - rank(other))
        expect(digestEpochs(new Map(shuffled))).toEqual(digest.report())
      }),
    )
  })

  it.each([
    ['a lower id', 'a'],
    ['the same id again', 'b'],
  ])('takes peers by id: %s is refused', (_name, next) => {
    const digest = createEpochDigest()
    digest.add('b', 'x')
    expect(() => digest.add(next, 'x')).toThrow(RangeError)
  })
})
