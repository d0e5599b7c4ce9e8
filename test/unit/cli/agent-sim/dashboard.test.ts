import { expect, test } from 'vitest'
import { progressRecord, type Progress } from '../../../../src/cli/agent-sim/dashboard.ts'
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

test('a line of progress has the latencies of each operation that succeeded, beside the counts', () => {
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
