import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { lookRegularly } from '../../../../../../src/cli/agent/bridges/tunnels/look-regularly.ts'

describe('looking regularly', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('begins no look while one runs, however long that takes', async () => {
    let looks = 0
    let carryOn: () => void = () => undefined
    const stop = lookRegularly(1_000, () => {
      looks += 1
      return new Promise((resolve) => {
        carryOn = resolve
      })
    })
    await vi.advanceTimersByTimeAsync(10_500)
    expect(looks).toBe(1)
    carryOn()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(looks).toBe(2)
    carryOn()
    stop()
    await vi.advanceTimersByTimeAsync(5_000)
    expect(looks).toBe(2)
  })
})
