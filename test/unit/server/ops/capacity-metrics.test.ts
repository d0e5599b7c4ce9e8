import { expect, test } from 'vitest'
import { createPrometheus } from '../../../../src/server/adapters/prometheus/prometheus.ts'
import type { CapacityState } from '../../../../src/server/adapters/prometheus/capacity-metrics.ts'

function start(state: { current: CapacityState | undefined }) {
  const prometheus = createPrometheus({
    probeStates: async () => [],
    capacity: { state: () => state.current, defaultTargets: { nodes: 10_000, sse_fanout: 1_000 } },
  })
  return async () => (await prometheus.text()).split('\n').filter((line) => line.startsWith('service_capacity_'))
}

test('the capacity of Domains has the metrics of S1, and those of a Domain that is gone are gone', async () => {
  const state: { current: CapacityState | undefined } = { current: undefined }
  const lines = start(state)
  const targets = [
    'service_capacity_target{dimension="nodes"} 10000',
    'service_capacity_target{dimension="sse_fanout"} 1000',
  ]
  expect(await lines()).toEqual([...targets, 'service_capacity_crossing_record_failures_total 0'])
  state.current = {
    domains: [
      {
        domainId: 'd1',
        dimensions: [
          { dimension: 'nodes', used: 9_000, ratio: 0.9, crossings: 2 },
          { dimension: 'sse_fanout', used: 1.5, ratio: null, crossings: 0 },
        ],
      },
    ],
    recordFailures: 3,
  }
  const full = [
    'service_capacity_used{domain_id="d1",dimension="nodes"} 9000',
    'service_capacity_used{domain_id="d1",dimension="sse_fanout"} 1.5',
    'service_capacity_ratio{domain_id="d1",dimension="nodes"} 0.9',
    ...targets,
    'service_capacity_crossings_total{domain_id="d1",dimension="nodes"} 2',
    'service_capacity_crossings_total{domain_id="d1",dimension="sse_fanout"} 0',
    'service_capacity_crossing_record_failures_total 3',
  ]
  expect(await lines()).toEqual(full)
  expect(await lines()).toEqual(full)
  state.current = { domains: [], recordFailures: 3 }
  expect(await lines()).toEqual([...targets, 'service_capacity_crossing_record_failures_total 3'])
})
