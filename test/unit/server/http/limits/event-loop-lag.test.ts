import { afterEach, expect, it, vi } from 'vitest'
import { watchEventLoopLag } from '../../../../../src/server/http/limits/event-loop-lag.ts'

afterEach(() => vi.useRealTimers())

it('the event loop is late before a second has passed without a tick, and in time after the next', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  let nowMs = 0
  const lag = watchEventLoopLag(() => nowMs)
  nowMs = 100
  vi.advanceTimersByTime(100)
  nowMs = 800
  expect([lag.isLate(), lag.seconds()]).toEqual([false, 0.6])
  nowMs = 801
  expect(lag.isLate()).toBe(true)
  vi.advanceTimersByTime(100)
  expect([lag.isLate(), lag.seconds()]).toEqual([false, 0.601])
  lag.stop()
})

it('the longest delay is forgotten after half a minute', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  let nowMs = 0
  const lag = watchEventLoopLag(() => nowMs)
  nowMs = 2_100
  vi.advanceTimersByTime(100)
  expect(lag.seconds()).toBe(2)
  for (let tick = 0; tick < 300; tick += 1) {
    nowMs += 100
    vi.advanceTimersByTime(100)
  }
  expect(lag.seconds()).toBe(0)
  lag.stop()
})
