import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { subnetSpanOf } from '../../../../src/server/bridges/subnet-span.ts'
import { overlaps, spanOf } from '../../../../src/shared/bridges/subnet.ts'

const ONE = '018f0000-0000-7000-8000-000000000001'
const TWO = '018f0000-0000-7000-8000-000000000002'
const ALL_V4 = '0.0.0.0/0'
const ALL_V6 = '::/0'

const boundsOf = (span: string) => span.slice(1, -1).split(',').map(BigInt) as [bigint, bigint]
function doOverlap(one: string, other: string): boolean {
  const [[a, b], [c, d]] = [boundsOf(one), boundsOf(other)]
  return a <= d && c <= b
}

/** Networks of few addresses, so that they overlap often. */
const subnet = fc.oneof(
  fc.tuple(fc.integer({ min: 24, max: 32 }), fc.integer({ min: 0, max: 255 })).map(([bits, last]) => {
    const size = 2 ** (32 - bits)
    return `10.0.0.${Math.floor(last / size) * size}/${bits}`
  }),
  fc.tuple(fc.integer({ min: 120, max: 128 }), fc.integer({ min: 0, max: 255 })).map(([bits, last]) => {
    const size = 2 ** (128 - bits)
    return `2001:db8::${(Math.floor(last / size) * size).toString(16)}/${bits}`
  }),
)

describe('The span of a subnet', () => {
  it('is a closed range of whole numbers, each address one', () => {
    const [first, last] = boundsOf(subnetSpanOf(ONE, '10.0.0.0/30'))
    expect(last - first).toBe(3n)
    expect(boundsOf(subnetSpanOf(ONE, ALL_V6)).map(String)).toEqual(
      boundsOf(subnetSpanOf(ONE, '::/1'))
        .slice(0, 1)
        .concat(boundsOf(subnetSpanOf(ONE, '8000::/1')).slice(1))
        .map(String),
    )
  })

  it('overlaps another of one bridge exactly where the subnets do', () => {
    fc.assert(
      fc.property(subnet, subnet, (a, b) => {
        expect(doOverlap(subnetSpanOf(ONE, a), subnetSpanOf(ONE, b))).toBe(overlaps(spanOf(a), spanOf(b)))
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    [ALL_V4, ALL_V6],
    [ALL_V6, ALL_V4],
  ])('of %s does not reach that of %s', (one, other) => {
    expect(doOverlap(subnetSpanOf(ONE, one), subnetSpanOf(ONE, other))).toBe(false)
  })

  it.each([
    [ALL_V4, ALL_V4],
    [ALL_V6, ALL_V6],
    [ALL_V4, ALL_V6],
    [ALL_V6, ALL_V4],
  ])('does not overlap one of another bridge: %s and %s', (one, other) => {
    expect(doOverlap(subnetSpanOf(ONE, one), subnetSpanOf(TWO, other))).toBe(false)
  })
})
