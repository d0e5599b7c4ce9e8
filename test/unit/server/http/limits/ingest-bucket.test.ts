import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { IngestBucket } from '../../../../../src/server/http/limits/ingest-bucket.ts'

const NOW_MS = Date.parse('2026-03-01T08:00:00.000Z')

describe('the bucket of what a Domain reports', () => {
  it('holds five seconds of the target, and says how long the next body has to wait', () => {
    const bucket = new IngestBucket(NOW_MS)
    expect(bucket.take(5_000, 1_000, NOW_MS)).toBe(0)
    expect(bucket.take(1_500, 1_000, NOW_MS)).toBe(1_500)
    expect(bucket.take(1_500, 1_000, NOW_MS + 1_499)).toBe(1)
    expect(bucket.take(1_500, 1_000, NOW_MS + 1_500)).toBe(0)
  })

  it('takes nothing for a body that is refused', () => {
    const bucket = new IngestBucket(NOW_MS)
    bucket.take(5_000, 1_000, NOW_MS)
    for (let times = 0; times < 100; times += 1) bucket.take(2_000, 1_000, NOW_MS)
    expect(bucket.take(1_000, 1_000, NOW_MS + 1_000)).toBe(0)
  })

  it('takes a body that is larger than the bucket once the bucket is full, and the body is owed', () => {
    const bucket = new IngestBucket(NOW_MS)
    expect(bucket.take(1, 1_000, NOW_MS)).toBe(0)
    expect(bucket.take(20_000, 1_000, NOW_MS)).toBe(1)
    expect(bucket.take(20_000, 1_000, NOW_MS + 1)).toBe(0)
    expect(bucket.take(1_000, 1_000, NOW_MS + 1)).toBe(16_000)
  })

  it('is never owed more than a minute of waiting, whatever the target', () => {
    const bucket = new IngestBucket(NOW_MS)
    expect(bucket.take(32_768, 1, NOW_MS)).toBe(0)
    expect(bucket.take(32_768, 1, NOW_MS)).toBe(60_000)
    expect(bucket.take(32_768, 1, NOW_MS + 60_000)).toBe(0)
  })

  it('is owed one bucket at most by bytes that are let through in any case', () => {
    const bucket = new IngestBucket(NOW_MS)
    for (let times = 0; times < 100; times += 1) bucket.charge(65_536, 1_000, NOW_MS)
    expect(bucket.take(1_000, 1_000, NOW_MS)).toBe(6_000)
    expect(bucket.take(9_000, 1_000, NOW_MS)).toBe(10_000)
  })

  it('is not owed less because of bytes that are let through in any case', () => {
    const bucket = new IngestBucket(NOW_MS)
    bucket.take(25_000, 1_000, NOW_MS)
    bucket.charge(10, 1_000, NOW_MS)
    expect(bucket.take(1_000, 1_000, NOW_MS)).toBe(21_000)
  })

  it('stays as full as it was when the target changes, and is refilled by the new one', () => {
    const bucket = new IngestBucket(NOW_MS)
    bucket.take(2_500, 1_000, NOW_MS)
    expect(bucket.take(250_000, 100_000, NOW_MS)).toBe(0)
    expect(bucket.take(100_000, 100_000, NOW_MS)).toBe(1_000)
    expect(bucket.take(10, 10, NOW_MS)).toBe(1_000)
  })

  it('is neither refilled nor drained by a clock that is set back', () => {
    const bucket = new IngestBucket(NOW_MS)
    bucket.take(5_000, 1_000, NOW_MS)
    expect(bucket.take(1_000, 1_000, NOW_MS - 3_600_000)).toBe(1_000)
    expect(bucket.take(1_000, 1_000, NOW_MS - 3_599_000)).toBe(0)
  })

  const bodies = fc.array(
    fc.record({
      afterMs: fc.oneof(fc.constant(0), fc.nat(3_000), fc.nat(120_000)),
      bytes: fc.integer({ min: 1, max: 65_536 }),
      isRefusable: fc.boolean(),
    }),
    { maxLength: 60 },
  )
  const targets = fc.oneof(fc.integer({ min: 1, max: 9_999 }), fc.integer({ min: 1, max: 52_428_800 }))
  const replicas = fc.integer({ min: 1, max: 7 })

  it('decides as exact arithmetic does, for any bodies, targets and replicas', () => {
    fc.assert(
      fc.property(targets, replicas, bodies, (target, live, sent) => {
        const bucket = new IngestBucket(NOW_MS)
        const oracle = exact(target, live)
        let nowMs = NOW_MS
        for (const { afterMs, bytes, isRefusable } of sent) {
          nowMs += afterMs
          oracle.refill(afterMs)
          if (isRefusable) expect(bucket.take(bytes, target / live, nowMs) === 0).toBe(oracle.takes(bytes))
          else {
            bucket.charge(bytes, target / live, nowMs)
            oracle.charge(bytes)
          }
        }
      }),
    )
  })

  it('takes the body of a caller that waits as long as it was asked to, in whole seconds from 1 to 60', () => {
    fc.assert(
      fc.property(targets, replicas, bodies, (target, live, sent) => {
        const bucket = new IngestBucket(NOW_MS)
        let nowMs = NOW_MS
        for (const { afterMs, bytes, isRefusable } of sent) {
          nowMs += afterMs
          if (!isRefusable) bucket.charge(bytes, target / live, nowMs)
          else {
            const waitMs = bucket.take(bytes, target / live, nowMs)
            if (waitMs > 0) {
              const seconds = Math.ceil(waitMs / 1000)
              expect(seconds).toBeLessThanOrEqual(60)
              nowMs += seconds * 1000
              expect(bucket.take(bytes, target / live, nowMs)).toBe(0)
            }
          }
        }
      }),
    )
  })
})

/** The same rules in whole numbers: a unit is the part of a byte that one ms of the smallest rate refills. */
function exact(target: number, live: number) {
  const perMs = BigInt(target)
  const full = 5_000n * perMs
  const costOf = (bytes: number): bigint => BigInt(bytes) * 1_000n * BigInt(live)
  let left = full
  return {
    refill(ms: number): void {
      left = smaller(full, left + BigInt(ms) * perMs)
    },
    takes(bytes: number): boolean {
      if (left < smaller(full, costOf(bytes))) return false
      left = larger(-55_000n * perMs, left - costOf(bytes))
      return true
    },
    charge(bytes: number): void {
      left = smaller(left, larger(-full, left - costOf(bytes)))
    },
  }
}

const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other)
const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other)
