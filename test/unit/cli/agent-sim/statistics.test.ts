import { expect, test } from 'vitest'
import { createStatistics } from '../../../../src/cli/agent-sim/statistics.ts'

test.each([
  'rate_limited',
  'per_node_rate_limited',
  'per_domain_rate_limited',
  'capacity_exceeded',
  'session_limit_exceeded',
])('%s is a refusal by which a server defends itself, and no error', (code) => {
  const statistics = createStatistics()
  statistics.failed('heartbeat', code)
  expect(statistics.summary().counts).toMatchObject({ refusals: 1, errors: 0 })
})

test('every other failure is an error', () => {
  const statistics = createStatistics()
  statistics.failed('heartbeat', 'internal')
  expect(statistics.summary().counts).toMatchObject({ refusals: 0, errors: 1 })
})
