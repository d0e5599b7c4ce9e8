import { expect, test } from 'vitest'
import { createStatistics } from '../../../../src/cli/agent-sim/statistics.ts'

test.each([
  'rate_limited',
  'per_node_rate_limited',
  'per_domain_rate_limited',
  'capacity_exceeded',
  'session_limit_exceeded',
])('%s is counted as a refusal, not as an error', (code) => {
  const statistics = createStatistics()
  statistics.failed('heartbeat', code)
  expect(statistics.summary().counts).toMatchObject({ refusals: 1, errors: 0 })
})

test('every other failure is an error', () => {
  const statistics = createStatistics()
  statistics.failed('heartbeat', 'internal')
  expect(statistics.summary().counts).toMatchObject({ refusals: 0, errors: 1 })
})

test('resetting latencies keeps the counters', () => {
  const statistics = createStatistics()
  statistics.succeeded('heartbeat', 900)
  statistics.succeeded('endpoint', 900)
  statistics.failed('heartbeat', 'internal')
  statistics.resetLatencies()
  statistics.succeeded('heartbeat', 3)
  const { counts, operations, percentileMs } = statistics.summary()
  expect(counts).toMatchObject({ heartbeats: 2, operations: 3, errors: 1 })
  expect(operations).toEqual([expect.objectContaining({ operation: 'heartbeat', count: 1 })])
  expect(percentileMs('heartbeat', 100)).toBeCloseTo(3, 1)
})
