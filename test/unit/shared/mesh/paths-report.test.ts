import { describe, expect, test } from 'vitest'
import { canonicalize } from '../../../../src/shared/canonical-json.ts'
import { pathsReport, readPathsReport } from '../../../../src/shared/mesh/paths-report.ts'

const id = (number: number): string => `019c1a10-0000-7000-8000-${String(number).padStart(12, '0')}`
const RELAY = '[2001:db8:ffff:ffff:ffff:ffff:ffff:1]:51821'

describe('a report of paths', () => {
  test('names peers by the last digits of their ids, those of a relay by its address', () => {
    expect(
      pathsReport([
        { nodeId: id(2), relay: undefined },
        { nodeId: id(1), relay: undefined },
        { nodeId: id(3), relay: RELAY },
      ]),
    ).toEqual({ direct: ['000000000001', '000000000002'], relayed: { [RELAY]: ['000000000003'] }, is_cut: false })
  })

  test('is read as it was written, and a peer that is not in it has no session', () => {
    const text = JSON.stringify(
      pathsReport([
        { nodeId: id(1), relay: undefined },
        { nodeId: id(3), relay: RELAY },
      ]),
    )
    expect([1, 2, 3].map((number) => readPathsReport(text)?.(id(number)))).toEqual(['direct', 'none', 'relayed'])
  })

  test('fits into a state report, with relayed peers first, and says nothing of those that are cut off', () => {
    const reached = Array.from({ length: 2_000 }, (_, number) => ({
      nodeId: id(number),
      relay: number < 100 ? `[2001:db8:ffff:ffff:ffff:ffff:ffff:${number % 20}]:51821` : undefined,
    }))
    const text = canonicalize(pathsReport(reached))
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4_096)
    expect([0, 150, 1_999].map((number) => readPathsReport(text)?.(id(number)))).toEqual(['relayed', 'direct', null])
  })

  test.each([
    'null',
    '[]',
    '{}',
    '{"direct":[1],"relayed":{},"is_cut":false}',
    '{"direct":[],"relayed":[[1]],"is_cut":false}',
  ])('of another form is none: %s', (text) => {
    expect(readPathsReport(text)).toBeUndefined()
  })
})
