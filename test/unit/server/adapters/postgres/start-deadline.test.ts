import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startDeadline } from '../../../../../src/server/adapters/postgres/start-deadline.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** The process does not run for so long: its clock goes on, its timers do not. */
function stall(ms: number): void {
  vi.setSystemTime(Date.now() + ms)
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + ms)
}

test('a deadline that passes is late, one that is cleared is not', () => {
  const late = vi.fn<() => void>()
  startDeadline(100, late)
  startDeadline(100, late).clear()
  vi.advanceTimersByTime(100)
  expect(late).toHaveBeenCalledTimes(1)
})

test.each([
  { deadlineMs: 2_000, graceMs: 1_000 },
  { deadlineMs: 200, graceMs: 200 },
])('after a stall a deadline of $deadlineMs ms leaves $graceMs ms, once', ({ deadlineMs, graceMs }) => {
  const late = vi.fn<() => void>()
  startDeadline(deadlineMs, late)
  stall(3_000)
  vi.advanceTimersByTime(deadlineMs)
  expect(late).not.toHaveBeenCalled()
  vi.advanceTimersByTime(graceMs - 1)
  expect(late).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(late).toHaveBeenCalledTimes(1)
})

test('an answer within that time clears it', () => {
  const late = vi.fn<() => void>()
  const deadline = startDeadline(2_000, late)
  stall(3_000)
  vi.advanceTimersByTime(2_500)
  deadline.clear()
  vi.advanceTimersByTime(10_000)
  expect(late).not.toHaveBeenCalled()
})
