import { expect, test } from 'vitest'
import type { Leading } from '../../../../../src/server/ports/leadership.ts'
import { createReachabilitySampler } from '../../../../../src/server/slices/nodes/reachability-sampler.ts'

const START_MS = Date.parse('2026-03-01T08:00:00.000Z')

/** A sampler whose samples are only noted, by the time at which they were taken. */
function sampler() {
  const clock = { nowMs: START_MS, now: () => clock.nowMs }
  const job = createReachabilitySampler(clock)
  const takenMs: number[] = []
  let fault: Error | undefined
  const leading = {
    transaction: async () => {
      if (fault !== undefined) throw fault
      takenMs.push(clock.nowMs - START_MS)
    },
    signal: new AbortController().signal,
  } as unknown as Leading // No other part is asked for.
  return {
    takenMs,
    fail: (error: Error | undefined) => (fault = error),
    runAt(ms: number) {
      clock.nowMs = START_MS + ms
      return job.run(leading)
    },
  }
}

test('a sample is taken once for each multiple of five minutes', async () => {
  const { takenMs, runAt } = sampler()
  for (let ms = -5_000; ms <= 605_000; ms += 5_000) await runAt(ms)
  expect(takenMs).toEqual([0, 300_000, 600_000])
})

test('an instant that was missed by more than 30 seconds has none, and the next one has', async () => {
  const { takenMs, runAt } = sampler()
  for (const ms of [30_000, 330_001, 599_999, 600_001]) await runAt(ms)
  expect(takenMs).toEqual([30_000, 600_001])
})

test('one that failed is tried again', async () => {
  const { takenMs, fail, runAt } = sampler()
  fail(new Error('the datastore is away'))
  await expect(runAt(0)).rejects.toThrow('the datastore is away')
  fail(undefined)
  await runAt(10_000)
  await runAt(15_000)
  expect(takenMs).toEqual([10_000])
})

test('a clock that is set back has samples of its own time', async () => {
  const { takenMs, runAt } = sampler()
  for (const ms of [600_000, 300_000, 300_005]) await runAt(ms)
  expect(takenMs).toEqual([600_000, 300_000])
})

test('it never asks for another pass at once', async () => {
  const { runAt } = sampler()
  expect([await runAt(0), await runAt(60_000)]).toEqual([false, false])
})
