import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLeaseWait } from '../../../../../src/server/adapters/postgres/lease-wait.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** What a wait came to so far. */
function outcomeOf(wait: Promise<boolean>): { value: boolean | undefined } {
  const outcome: { value: boolean | undefined } = { value: undefined }
  void wait.then((value) => (outcome.value = value))
  return outcome
}

const start = () => createLeaseWait(() => Date.now())

test('all who wait go on when the lease is renewed', async () => {
  const lease = start()
  const waits = [lease.until(), lease.until()]
  lease.renewed()
  expect(await Promise.all(waits)).toEqual([true, true])
})

test('nobody waits longer than 2 s after the lapse was noticed, and later ones not at all', async () => {
  const lease = start()
  const first = outcomeOf(lease.until())
  await vi.advanceTimersByTimeAsync(1_500)
  const second = outcomeOf(lease.until())
  await vi.advanceTimersByTimeAsync(499)
  expect([first.value, second.value]).toEqual([undefined, undefined])
  await vi.advanceTimersByTimeAsync(1)
  expect([first.value, second.value]).toEqual([false, false])
  expect(await lease.until()).toBe(false)
})

test('one read that failed is another try, the second in a row an outage', async () => {
  const lease = start()
  const waiting = outcomeOf(lease.until())
  lease.failed()
  await vi.advanceTimersByTimeAsync(0)
  expect(waiting.value).toBeUndefined()
  lease.failed()
  await vi.advanceTimersByTimeAsync(0)
  expect(waiting.value).toBe(false)
  expect(await lease.until()).toBe(false)
})

test('after an outage a lapse is waited for as before', async () => {
  const lease = start()
  lease.failed()
  lease.failed()
  lease.renewed()
  await vi.advanceTimersByTimeAsync(10_000)
  const waiting = outcomeOf(lease.until())
  await vi.advanceTimersByTimeAsync(1_999)
  expect(waiting.value).toBeUndefined()
  lease.renewed()
  await vi.advanceTimersByTimeAsync(0)
  expect(waiting.value).toBe(true)
})
