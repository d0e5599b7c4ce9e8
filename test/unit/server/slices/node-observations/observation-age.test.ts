import { describe, expect, it } from 'vitest'
import { untimeliness } from '../../../../../src/server/slices/node-observations/observation-age.ts'

describe('The instant of an observation', () => {
  it.each([
    [300_000, 0, undefined],
    [300_000, 60_000, undefined],
    [300_000, 60_001, 'skew'],
    [300_000, 300_000, 'skew'],
    [300_000, 300_001, 'stale'],
    [300_000, -60_000, undefined],
    [300_000, -60_001, 'skew'],
    [300_000, -300_001, 'skew'],
    [30_000, 30_000, undefined],
    [30_000, 30_001, 'stale'],
    [30_000, 60_001, 'stale'],
    [30_000, -60_001, 'skew'],
    [3_600_000, 3_600_000, 'skew'],
    [3_600_000, 3_600_001, 'stale'],
  ] as const)('under a TTL of %d ms and at an age of %d ms is %s', (ttlMs, ageMs, expected) => {
    expect(untimeliness(1_000_000_000 - ageMs, { nowMs: 1_000_000_000, ttlMs })).toBe(expected)
  })

  it('that is none is refused', () => {
    expect(untimeliness(Number.NaN, { nowMs: 0, ttlMs: 300_000 })).toBe('skew')
  })
})
