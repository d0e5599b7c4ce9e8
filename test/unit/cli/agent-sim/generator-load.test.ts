import { expect, test } from 'vitest'
import { createGeneratorWatch, mergedLoad } from '../../../../src/cli/agent-sim/generator-load.ts'

/** Measures one second for each share, for which the loop was busy, with half of that as CPU time. */
function measure(busy: readonly number[], delayMs = 0) {
  let [nowMs, busyMs, tick] = [5_000, 777, (): void => undefined]
  const watch = createGeneratorWatch({
    nowMs: () => nowMs,
    cpuMs: () => busyMs / 2,
    busyMs: () => busyMs,
    delay: { start: () => undefined, stop: () => undefined, p99Ms: () => delayMs },
    everySecond(act) {
      tick = act
      return () => (tick = () => undefined)
    },
  })
  watch.start()
  for (const share of busy) {
    nowMs += 1_000
    busyMs += 1_000 * share
    tick()
  }
  watch.stop()
  return watch.now()
}

const seconds = (count: number, share: number) => Array.from({ length: count }, () => share)

test('the utilization is the highest of any five seconds, and the CPU time is that of all', () => {
  const busy = [...seconds(5, 0.2), ...seconds(5, 0.6), ...seconds(10, 0.1)]
  expect(measure(busy)).toEqual({
    workers: 1,
    cpu_cores: 0.125,
    loop_delay_p99_ms: 0,
    loop_utilization_max: 0.6,
    was_bottleneck: false,
  })
})

test.each([
  ['busy for more than 0.9 of five seconds', [...seconds(6, 0.95), ...seconds(11, 0.1)], 0, true],
  ['busy for one second', [...seconds(5, 0.1), 1, ...seconds(11, 0.1)], 0, false],
  ['late by more than 100 ms', seconds(16, 0.1), 101, true],
  ['late by 100 ms', seconds(16, 0.1), 100, false],
  ['measured for less than 15 seconds', seconds(14, 1), 500, false],
])('a process is the bottleneck or not: %s', (_, busy, delayMs, expected) => {
  expect(measure(busy, delayMs)?.was_bottleneck).toBe(expected)
})

test('one busy second at the start is not five, and of a shorter run the whole counts', () => {
  expect(measure([1, ...seconds(9, 0.1)])?.loop_utilization_max).toBe(0.28)
  expect(measure([0.6, 0.2])?.loop_utilization_max).toBe(0.4)
})

test('of several processes the worst counts, and the CPU time is added', () => {
  const load = { workers: 1, cpu_cores: 0.5, loop_delay_p99_ms: 3, loop_utilization_max: 0.4, was_bottleneck: false }
  const worst = { workers: 1, cpu_cores: 0.25, loop_delay_p99_ms: 9, loop_utilization_max: 0.2, was_bottleneck: true }
  expect(mergedLoad([load, worst])).toEqual({
    workers: 2,
    cpu_cores: 0.75,
    loop_delay_p99_ms: 9,
    loop_utilization_max: 0.4,
    was_bottleneck: true,
  })
  expect(mergedLoad([])).toBeUndefined()
})
