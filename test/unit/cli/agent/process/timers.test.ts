import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createTimers } from '../../../../../src/cli/agent/process/timers.ts'

describe('the timers of an agent', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('act at their time', () => {
    const act = vi.fn()
    createTimers().after(1_000, act)
    vi.advanceTimersByTime(999)
    expect(act).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(act).toHaveBeenCalledOnce()
  })

  test('wait as long as they can where a server asks for more', () => {
    const act = vi.fn()
    createTimers().after(1e12, act)
    vi.advanceTimersByTime(86_400_000)
    expect(act).not.toHaveBeenCalled()
  })

  test('keep no process running after the end of the agent, whether they were set before it or after it', async () => {
    const timers = createTimers()
    const ending = new AbortController()
    const ended = timers.run(ending.signal)
    timers.after(60_000, () => undefined)
    expect(vi.getTimerCount()).toBe(1)
    ending.abort()
    await ended
    timers.after(60_000, () => undefined)
    expect(vi.getTimerCount()).toBe(0)
  })
})
