import { expect, test } from 'vitest'
import { createTaskTracker } from '../../../../../src/client/agent/tasks/task-tracker.ts'
import { createPacedLimiter } from '../../../../../src/client/agent/calls/paced-limiter.ts'
import { createTimerWheel } from '../../../../../src/client/agent/tasks/timer-wheel.ts'
import { steppedClock } from '../../../../support/fleet/mesh-agents.ts'

function turning() {
  const clock = steppedClock()
  const wheel = createTimerWheel(clock)
  const ended = new AbortController()
  const turned = wheel.run(ended.signal)
  return { clock, wheel, tasks: createTaskTracker(wheel), end: () => ended.abort(), turned }
}

test('The timer wheel makes each call when it is due, never earlier, and none after it has stopped', async () => {
  const { clock, wheel, end, turned } = turning()
  const startedMs = clock.now()
  const called: [string, number][] = []
  for (const [name, ms] of [
    ['late', 1_000],
    ['soon', 5],
    ['at once', -10],
    ['never', 3_000],
  ] as const)
    wheel.after(ms, () => called.push([name, clock.now() - startedMs]))
  await clock.advance(2_000)
  end()
  await turned
  await clock.advance(5_000)
  expect(called).toEqual([
    ['soon', 10],
    ['at once', 10],
    ['late', 1_000],
  ])
})

test('Tasks are done when all running and scheduled ones have ended', async () => {
  const { clock, tasks } = turning()
  let [isDone, isEnded] = [false, false]
  tasks.schedule(500, async () => {
    await clock.pause(500, new AbortController().signal)
    isEnded = true
  })
  void tasks.done().then(() => (isDone = true))
  await clock.advance(900)
  expect([tasks.isIdle(), isDone, isEnded]).toEqual([false, false, false])
  await clock.advance(200)
  expect([tasks.isIdle(), isDone, isEnded]).toEqual([true, true, true])
})

test('Scheduled tasks are cancelled, running ones are waited for', async () => {
  const { clock, tasks } = turning()
  const ended: string[] = []
  tasks.track(clock.pause(1_000, new AbortController().signal).then(() => void ended.push('running')))
  tasks.schedule(500, async () => void ended.push('scheduled'))
  tasks.cancelScheduled()
  tasks.schedule(1, async () => void ended.push('too late'))
  const done = tasks.done()
  await clock.advance(2_000)
  await done
  expect(ended).toEqual(['running'])
})

test('An error of any task rejects the waiting caller', async () => {
  const { clock, tasks } = turning()
  const bug = new Error('a bug')
  tasks.track(clock.pause(10_000, new AbortController().signal))
  tasks.schedule(10, () => Promise.reject(bug))
  const done = expect(tasks.done()).rejects.toBe(bug)
  await clock.advance(100)
  await done
  await expect(tasks.failed).rejects.toBe(bug)
})

test('A limiter bounds concurrency, keeps the order, and starts nothing after the signal is aborted', async () => {
  const limiter = createPacedLimiter(() => Promise.resolve(), 2)
  const ended = new AbortController()
  const begun: number[] = []
  const ends: (() => void)[] = []
  const all = [1, 2, 3, 4].map((number) =>
    limiter(ended.signal, () => {
      begun.push(number)
      return new Promise((resolve) => ends.push(resolve))
    }),
  )
  const turns = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  await turns()
  expect(begun).toEqual([1, 2])
  ends[0]?.()
  await turns()
  expect(begun).toEqual([1, 2, 3])
  ended.abort()
  ends.forEach((end) => end())
  await Promise.all(all)
  expect(begun).toEqual([1, 2, 3])
})
