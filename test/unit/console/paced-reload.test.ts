import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createPacedReload } from '../../../src/console/model/paced-reload.ts'

describe('loading again and again', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  /** Loads that take `takesMs` each; `pauseMs` apart. */
  function start({ takesMs, pauseMs }: { readonly takesMs: number; readonly pauseMs: number }) {
    const begun: number[] = []
    const ended: number[] = []
    const signals: AbortSignal[] = []
    const startMs = Date.now()
    const reload = createPacedReload(
      {
        async load(signal) {
          begun.push(Date.now() - startMs)
          signals.push(signal)
          await new Promise((resolve) => setTimeout(resolve, takesMs))
          ended.push(Date.now() - startMs)
        },
        pauseMs: () => pauseMs,
      },
      {
        nowMs: Date.now,
        after(ms, run) {
          const timer = setTimeout(run, ms)
          return () => clearTimeout(timer)
        },
      },
    )
    return { begun, ended, signals, reload }
  }
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

  test('has an answer although requests come faster than loads end', async () => {
    const { begun, ended, signals, reload } = start({ takesMs: 2_500, pauseMs: 0 })
    for (let second = 0; second < 6; second++) {
      reload.request()
      await pass(1_000)
    }
    expect([begun, ended]).toEqual([
      [0, 2_500, 5_000],
      [2_500, 5_000],
    ])
    expect(signals.some(({ aborted }) => aborted)).toBe(false)
    reload.end()
  })

  test('answers a request in the pause at the end of the pause, and all of them by one load', async () => {
    const { begun, reload } = start({ takesMs: 100, pauseMs: 3_000 })
    reload.request()
    await pass(1_000)
    reload.request()
    reload.request()
    await pass(2_000)
    reload.request()
    await pass(20_000)
    expect(begun).toEqual([0, 3_100])
    reload.request()
    expect(begun).toEqual([0, 3_100, 23_000])
    reload.end()
  })

  test('waits up to three times as long while requests come in every pause, and as long as at first after a quiet one', async () => {
    const { begun, reload } = start({ takesMs: 0, pauseMs: 5_000 })
    for (let second = 0; second < 70; second++) {
      reload.request()
      await pass(1_000)
    }
    const seconds = () => begun.map((ms) => Math.floor(ms / 1_000))
    expect(seconds()).toEqual([0, 5, 15, 30, 45, 60])
    await pass(60_000)
    begun.length = 0
    reload.request()
    await pass(1_000)
    reload.request()
    await pass(10_000)
    expect(seconds()).toEqual([130, 135])
    reload.end()
  })

  test('loads without the pause for a person who waits, after the load under way', async () => {
    const { begun, reload } = start({ takesMs: 1_000, pauseMs: 60_000 })
    reload.request()
    await pass(500)
    reload.request()
    reload.requestAtOnce()
    await pass(5_000)
    expect(begun).toEqual([0, 1_000])
    reload.requestAtOnce()
    expect(begun).toEqual([0, 1_000, 5_500])
    reload.end()
  })

  test('ends with its function: nothing is loaded any more, and the load under way is cancelled', async () => {
    const { begun, signals, reload } = start({ takesMs: 100, pauseMs: 3_000 })
    reload.request()
    reload.request()
    reload.end()
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    reload.request()
    await pass(60_000)
    expect(begun).toEqual([0])
  })
})
