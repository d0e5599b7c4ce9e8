import { describe, expect, it } from 'vitest'
import { createTokenBuckets } from '../../../../../src/server/http/limits/token-buckets.ts'

const NOW_MS = Date.parse('2026-03-01T08:00:00.000Z')

/** How many of so many calls at one instant are let through. */
function passed(buckets: ReturnType<typeof createTokenBuckets>, calls: number, atMs: number): number {
  return Array.from({ length: calls }, () => buckets.take('key', atMs)).filter((waitMs) => waitMs === 0).length
}

describe('a token bucket', () => {
  it.each([
    [{ count: 10, seconds: 1 }, 10, 100],
    [{ count: 30, seconds: 60 }, 30, 2000],
    [{ count: 5000, seconds: 1 }, 5000, 1],
  ])('of %j lets so many through at once, and then says when there is another one', (rate, burst, waitMs) => {
    const buckets = createTokenBuckets(rate, 100)
    expect(passed(buckets, burst + 50, NOW_MS)).toBe(burst)
    expect(buckets.take('key', NOW_MS)).toBe(waitMs)
    expect(buckets.take('key', NOW_MS + waitMs)).toBe(0)
  })

  it('is refilled evenly, and never beyond its size', () => {
    const buckets = createTokenBuckets({ count: 10, seconds: 1 }, 100)
    passed(buckets, 10, NOW_MS)
    expect(passed(buckets, 10, NOW_MS + 350)).toBe(3)
    expect(passed(buckets, 100, NOW_MS + 3_600_000)).toBe(10)
  })

  it('takes nothing for a call that is refused', () => {
    const buckets = createTokenBuckets({ count: 10, seconds: 1 }, 100)
    passed(buckets, 1000, NOW_MS)
    expect(passed(buckets, 5, NOW_MS + 100)).toBe(1)
  })

  it('survives a clock that is set back: no call is locked out for longer than the bucket takes', () => {
    const buckets = createTokenBuckets({ count: 10, seconds: 1 }, 100)
    passed(buckets, 10, NOW_MS)
    const earlierMs = NOW_MS - 3_600_000
    expect(passed(buckets, 10, earlierMs)).toBe(0)
    expect(passed(buckets, 20, earlierMs + 1000)).toBe(10)
  })

  it('belongs to one key', () => {
    const buckets = createTokenBuckets({ count: 1, seconds: 1 }, 100)
    expect([buckets.take('a', NOW_MS), buckets.take('b', NOW_MS), buckets.take('a', NOW_MS)]).toEqual([0, 0, 1000])
  })
})

describe('the memory of keys', () => {
  it('keeps a key that goes on calling, however many others come', () => {
    const buckets = createTokenBuckets({ count: 1, seconds: 3600 }, 100)
    expect(buckets.take('busy', NOW_MS)).toBe(0)
    for (let other = 0; other < 10_000; other += 1) {
      buckets.take(`other-${other}`, NOW_MS)
      if (other % 20 === 0) expect(buckets.take('busy', NOW_MS)).toBeGreaterThan(0)
    }
  })

  it('forgets a key that has not called while as many others as fit came', () => {
    const buckets = createTokenBuckets({ count: 1, seconds: 3600 }, 100)
    expect(buckets.take('idle', NOW_MS)).toBe(0)
    for (let other = 0; other < 49; other += 1) buckets.take(`other-${other}`, NOW_MS)
    expect(buckets.take('idle', NOW_MS)).toBeGreaterThan(0)
    for (let other = 0; other < 200; other += 1) buckets.take(`another-${other}`, NOW_MS)
    expect(buckets.take('idle', NOW_MS)).toBe(0)
  })
})
