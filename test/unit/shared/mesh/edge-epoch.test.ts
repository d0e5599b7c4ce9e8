import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compareEdgeEpochs,
  formatEdgeEpoch,
  isEpochAcceptable,
  parseEdgeEpoch,
  type EdgeEpoch,
} from '../../../../src/shared/mesh/edge-epoch.ts'
import { formatPskIssuedAt } from '../../../../src/shared/mesh/psk-instant.ts'
import { readVectors } from '../../../support/run/vectors.ts'

const { vectors } = readVectors<
  { epoch: string; in_force: string | null },
  { order: string | null; acceptable: boolean }
>('edge-epoch')

function judge(text: string, inForceText: string | null): { order: string | null; acceptable: boolean } {
  const epoch = parseEdgeEpoch(text)
  if (epoch === undefined) return { order: 'malformed', acceptable: false }
  const inForce = inForceText === null ? undefined : parseEdgeEpoch(inForceText)
  const order = inForce === undefined ? null : compareEdgeEpochs(epoch, inForce)
  return { order, acceptable: isEpochAcceptable(epoch, inForce) }
}

describe('The order of epochs', () => {
  it.each(vectors)('$name', ({ input, expected }) => {
    expect(judge(input.epoch, input.in_force)).toEqual(expected)
  })
})

/** Few instants, so that equal halves come up; the highest is the last of the year 9999. */
const ns = fc.oneof(fc.bigInt(0n, 3n), fc.bigInt(0n, 253_402_300_799_999_999_999n))
const pair = fc.tuple(ns, ns)
const epochOf = ([own, peer]: readonly [bigint, bigint]): EdgeEpoch => ({
  own: formatPskIssuedAt(own),
  peer: formatPskIssuedAt(peer),
})

it('an epoch is read as it was written', () => {
  fc.assert(
    fc.property(pair, (of) => {
      expect(parseEdgeEpoch(formatEdgeEpoch(epochOf(of)))).toEqual(epochOf(of))
    }),
  )
})

it('epochs compare as the numbers behind them', () => {
  const orderOf = (one: readonly [bigint, bigint], other: readonly [bigint, bigint]): string => {
    const signs = [one[0] - other[0], one[1] - other[1]]
    if (signs.every((sign) => sign === 0n)) return 'equal'
    if (signs.every((sign) => sign >= 0n)) return 'newer'
    return signs.every((sign) => sign <= 0n) ? 'older' : 'mixed'
  }
  fc.assert(
    fc.property(pair, pair, (one, other) => {
      expect(compareEdgeEpochs(epochOf(one), epochOf(other))).toBe(orderOf(one, other))
    }),
  )
})

it('what is acceptable is a partial order: reflexive, never both ways, and it carries over', () => {
  fc.assert(
    fc.property(pair, pair, pair, (one, other, third) => {
      const [a, b, c] = [epochOf(one), epochOf(other), epochOf(third)]
      expect(isEpochAcceptable(a, a)).toBe(true)
      if (isEpochAcceptable(a, b) && isEpochAcceptable(b, a)) expect(a).toEqual(b)
      if (isEpochAcceptable(a, b) && isEpochAcceptable(b, c)) expect(isEpochAcceptable(a, c)).toBe(true)
    }),
  )
})

it('whatever order epochs are offered in, no half of what is in force ever goes back', () => {
  fc.assert(
    fc.property(fc.array(pair), (offers) => {
      let inForce: readonly [bigint, bigint] = [0n, 0n]
      for (const offer of offers) {
        if (!isEpochAcceptable(epochOf(offer), epochOf(inForce))) continue
        expect(offer[0] >= inForce[0] && offer[1] >= inForce[1]).toBe(true)
        inForce = offer
      }
    }),
  )
})
