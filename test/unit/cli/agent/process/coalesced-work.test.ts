import { afterEach, describe, expect, test } from 'vitest'
import { createCoalescedWork } from '../../../../../src/cli/agent/process/coalesced-work.ts'
import type { Log } from '../../../../../src/cli/agent/log.ts'
import { createTaskTracker } from '../../../../../src/client/agent/tasks/task-tracker.ts'
import { createTimerWheel } from '../../../../../src/client/agent/tasks/timer-wheel.ts'
import { steppedClock } from '../../../../support/fleet/mesh-agents.ts'

const PAUSE_MS = 5_000
const SOON_MS = 100

const endings: AbortController[] = []
afterEach(() => endings.splice(0).forEach((ending) => ending.abort()))

/** Work that does what `outcomes` has for each round. `rounds` has the instant of each, from the start. */
function working(outcomes: readonly (() => Promise<void>)[]) {
  const clock = steppedClock()
  const ending = new AbortController()
  endings.push(ending)
  const wheel = createTimerWheel(clock)
  void wheel.run(ending.signal)
  const startedMs = clock.now()
  const rounds: number[] = []
  const lines: string[] = []
  const log: Log = { line: (line) => void lines.push(line), close: () => undefined }
  const tasks = createTaskTracker(wheel)
  const work = createCoalescedWork({
    name: 'mesh',
    clock,
    tasks,
    log,
    until: ending.signal,
    work() {
      rounds.push(clock.now() - startedMs)
      return outcomes[rounds.length - 1]?.() ?? Promise.resolve()
    },
  })
  return { clock, work, rounds, lines, ending, tasks }
}

const fails = () => Promise.reject(new Error('the route is taken'))
const succeeds = () => Promise.resolve()

describe('work that is requested more often than it needs to be done', () => {
  test('is repeated after the pause where its round has failed', async () => {
    const { clock, work, rounds, lines } = working([fails])
    work.request()
    await clock.advance(PAUSE_MS)
    expect([rounds.length, work.isIdle(), work.fault()]).toEqual([1, false, 'the route is taken'])
    await clock.advance(SOON_MS)
    expect([rounds.length, work.isIdle(), work.fault()]).toEqual([2, true, undefined])
    expect(lines).toEqual(['mesh: the route is taken; tried again in 5 s'])
  })

  test('does not wait for the end of that pause once it is requested', async () => {
    const { clock, work, rounds } = working([fails])
    work.request()
    await clock.advance(SOON_MS)
    expect(rounds).toHaveLength(1)
    work.request()
    await clock.advance(SOON_MS)
    expect([rounds.length, work.isIdle()]).toEqual([2, true])
  })

  test('has no pause where it was requested while the round that failed ran', async () => {
    let request = (): void => undefined
    const { clock, work, rounds } = working([
      () => {
        request()
        return fails()
      },
      fails,
    ])
    request = work.request
    work.request()
    await clock.advance(2 * SOON_MS)
    expect(rounds).toHaveLength(2)
    await clock.advance(PAUSE_MS - 3 * SOON_MS)
    expect(rounds).toHaveLength(2)
  })

  test('is done once for requests that come together', async () => {
    const { clock, work, rounds } = working([succeeds])
    for (let times = 0; times < 3; times += 1) work.request()
    await clock.advance(PAUSE_MS)
    expect(rounds).toHaveLength(1)
  })

  test('ends with the agent, also during the pause', async () => {
    const { clock, work, rounds, ending, tasks } = working([fails])
    work.request()
    await clock.advance(SOON_MS)
    ending.abort()
    tasks.cancelScheduled()
    await tasks.done()
    work.request()
    await clock.advance(2 * PAUSE_MS)
    expect(rounds).toHaveLength(1)
  })
})
