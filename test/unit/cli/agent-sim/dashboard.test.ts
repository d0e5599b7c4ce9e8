import { expect, test } from 'vitest'
import { dashboardLines, progressRecord, type Progress } from '../../../../src/cli/agent-sim/dashboard.ts'
import { MESH_COUNTS, FAULT_COUNTS } from '../../../../src/cli/agent-sim/counts.ts'
import { createStatistics } from '../../../../src/cli/agent-sim/statistics.ts'

const running: Progress = {
  phase: 'running',
  nodes: 2,
  nodesWanted: 2,
  elapsedSeconds: 4.6,
  durationSeconds: 60,
  reachability: { healthy: 2 },
  operationsPerSecond: 3,
}

test('a progress line has the latencies of each operation that succeeded, and the counts', () => {
  const statistics = createStatistics()
  for (const ms of [1, 1, 1, 8]) statistics.succeeded('heartbeat', ms)
  statistics.failed('endpoint', 'internal')
  const record = progressRecord(running, statistics.summary())
  expect(record).toMatchObject({ event: 'progress', elapsed_seconds: 5, heartbeats: 4, errors: 1 })
  const near = (ms: number): unknown => expect.closeTo(ms, 1)
  expect(record['latency']).toEqual({
    heartbeat: { count: 4, p50_ms: near(1), p95_ms: near(8), p99_ms: near(8), max_ms: near(8) },
  })
})

test('fits a fleet of 10,000 on a terminal of 80 columns', () => {
  const statistics = createStatistics()
  for (const ms of [1, 999, 9_999]) statistics.succeeded('capabilities', ms)
  const flaws = Object.fromEntries([...MESH_COUNTS, ...FAULT_COUNTS].map((name) => [name, 999]))
  const volumes = {
    streams: 10_000,
    events: 400_000,
    edges_compared: 400_000,
    key_rotations: 10_000,
    not_modified: 400_000,
  }
  const summary = { ...statistics.summary(), counts: { ...flaws, ...volumes, endpoint_changes: 10_000 } }
  const reachability = { never_reported: 0, healthy: 10_000, stale: 0, unreachable: 10_000 }
  const progress = { ...running, nodes: 10_000, nodesWanted: 10_000, elapsedSeconds: 3_599, durationSeconds: 3_600 }
  const lines = dashboardLines({ ...progress, reachability }, summary)
  expect(lines).toEqual(expect.arrayContaining([expect.stringContaining('unreachable 10000')]))
  expect(lines).toEqual(expect.arrayContaining([expect.stringContaining('bad 2997')]))
  expect(lines).toEqual(expect.arrayContaining([expect.stringMatching(/^faults +expected 999   unmet 999/)]))
  expect(lines.filter((line) => line.length > 79)).toEqual([])
})
