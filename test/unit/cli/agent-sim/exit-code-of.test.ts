import { expect, test } from 'vitest'
import { exitCodeOf } from '../../../../src/cli/agent-sim/exit-code-of.ts'

const LOAD = { workers: 1, cpu_cores: 1, loop_delay_p99_ms: 200, loop_utilization_max: 1 }
const ended = (was_bottleneck: boolean, failedConditions: readonly string[] = []) => ({
  interrupted: false,
  failedConditions,
  summary: { generator: { ...LOAD, was_bottleneck } },
})

test.each([
  ['a light run of a busy simulator is invalid, whatever its conditions', ended(true, ['errors>0']), true, 1],
  ['a full run of one is not', ended(true), false, 0],
  ['a condition that is true is a negative answer', ended(false, ['errors>0']), true, 10],
  ['an interrupted run is only that', { ...ended(true), interrupted: true }, true, 130],
  ['a run without a measured part is valid', { ...ended(false), summary: {} }, true, 0],
])('%s', (_, result, isLight, code) => {
  expect(exitCodeOf(result, isLight)).toBe(code)
})
