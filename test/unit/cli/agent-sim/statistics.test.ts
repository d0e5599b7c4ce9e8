import { expect, test } from 'vitest'
import { createStatistics, mergedSummary } from '../../../../src/cli/agent-sim/statistics.ts'

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

test('the summary of several processes has the sums of their counts and the percentiles of all their latencies', () => {
  const [one, other] = [createStatistics(), createStatistics()]
  for (let ms = 1; ms <= 99; ms += 1) one.succeeded('heartbeat', ms)
  other.succeeded('heartbeat', 1_000)
  other.delivered(90_000)
  one.failed('endpoint', 'internal')
  other.failed('endpoint', 'internal')
  other.count('hints', 3)
  const { counts, failures, operations, percentileMs } = mergedSummary([one.record(), other.record()])
  expect(counts).toMatchObject({ heartbeats: 100, operations: 100, errors: 2, hints: 3 })
  expect(failures).toEqual([{ operation: 'endpoint', code: 'internal', count: 2 }])
  expect(operations.map(({ operation, count }) => [operation, count])).toEqual([
    ['heartbeat', 100],
    ['change_delivery', 1],
  ])
  expect(percentileMs('heartbeat', 50)).toBeCloseTo(50, 0)
  expect(percentileMs('heartbeat', 100)).toBeCloseTo(1_000, -1)
  expect(percentileMs('change_delivery', 99)).toBeCloseTo(90_000, -3)
})
