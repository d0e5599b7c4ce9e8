import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createPresenceWatch } from '../../../src/console/model/presence.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

describe('whether people see a page', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  function open() {
    let isHidden = false
    let turned = (): void => undefined
    let input = (): void => undefined
    const seen: string[] = []
    const watch = createPresenceWatch({
      after(ms, run) {
        const timer = setTimeout(run, ms)
        return () => clearTimeout(timer)
      },
      isHidden: () => isHidden,
      onVisibility: (run) => (turned = run),
      onInput: (run) => (input = run),
    })
    watch.onChange(() => seen.push(watch.now()))
    const hide = (next: boolean): void => {
      isHidden = next
      turned()
    }
    return { seen, hide, use: () => input() }
  }
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

  test('they are away once it has been hidden for five minutes, and back when it is shown', async () => {
    const { seen, hide } = open()
    hide(true)
    await pass(5 * MINUTE - 1)
    expect(seen).toEqual(['hidden'])
    await pass(1)
    hide(false)
    expect(seen).toEqual(['hidden', 'away', 'shown'])
  })

  test('a moment behind another page is no absence', async () => {
    const { seen, hide } = open()
    hide(true)
    await pass(MINUTE)
    hide(false)
    await pass(10 * MINUTE)
    expect(seen).toEqual(['hidden', 'shown'])
  })

  test('a page that is shown and not used for 12 hours is as if it were hidden, until it is used', async () => {
    const { seen, use } = open()
    await pass(11 * HOUR)
    use()
    await pass(11 * HOUR)
    expect(seen).toEqual([])
    await pass(HOUR)
    expect(seen).toEqual(['away'])
    use()
    expect(seen).toEqual(['away', 'shown'])
  })

  test('input that a hidden page receives does not count', async () => {
    const { seen, hide, use } = open()
    hide(true)
    use()
    await pass(5 * MINUTE)
    use()
    expect(seen).toEqual(['hidden', 'away'])
  })
})
