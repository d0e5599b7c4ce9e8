import { describe, expect, test } from 'vitest'
import { failed, parseFailOn } from '../../../../src/cli/agent-sim/fail-on.ts'
import { createStatistics } from '../../../../src/cli/agent-sim/statistics.ts'

const OPERATIONS = ['register', 'heartbeat']

describe('--fail-on', () => {
  test('reads counts and percentiles, with milliseconds as the unit of time', () => {
    expect(parseFailOn('errors>0, p99(heartbeat)>=0.5s,heartbeats<28000', OPERATIONS)).toMatchObject([
      { quantity: { kind: 'count', name: 'errors' }, operator: '>', threshold: 0 },
      { quantity: { kind: 'percentile', percent: 99, operation: 'heartbeat' }, operator: '>=', threshold: 500 },
      { quantity: { kind: 'count', name: 'heartbeats' }, operator: '<', threshold: 28000 },
    ])
  })

  test.each([
    ['errors=0', '--fail-on: "errors=0" is not a condition such as errors>0 or p99(heartbeat)>50ms'],
    [
      'error>0',
      '--fail-on: "error>0" names no count of the simulator; it has errors, refusals, heartbeats, registrations, operations, streams, events, missed_events, bad_signatures, duplicate_events, reordered_events, refused_frames, resyncs, stream_reconnects, unconfirmed_streams',
    ],
    [
      'p99(heartbeet)>1ms',
      '--fail-on: "p99(heartbeet)>1ms" names no operation of the simulator; it has register, heartbeat',
    ],
    ['errors>1ms', '--fail-on: "errors>1ms" compares a count, which has no unit'],
  ])('refuses %s with a sentence that names it', (text, message) => {
    expect(() => parseFailOn(text, OPERATIONS)).toThrow(message)
  })

  test('names each true condition with the measured value', () => {
    const statistics = createStatistics()
    for (let count = 0; count < 100; count++) statistics.succeeded('heartbeat', 10)
    statistics.failed('heartbeat', 'internal')
    const conditions = parseFailOn('errors>0,refusals>0,heartbeats<101,p50(heartbeat)>50ms', OPERATIONS)
    expect(failed(conditions, statistics.summary())).toEqual(['errors>0 (measured 1)', 'heartbeats<101 (measured 100)'])
  })
})

describe('statistics', () => {
  test('count refusals due to limits separately from errors', () => {
    const statistics = createStatistics()
    statistics.failed('heartbeat', 'per_node_rate_limited')
    statistics.failed('heartbeat', 'datastore_unavailable')
    expect(statistics.summary().counts).toMatchObject({ errors: 1, refusals: 1, operations: 0 })
  })

  test('percentiles are in milliseconds, and zero before the first success', () => {
    const statistics = createStatistics()
    expect(statistics.summary().percentileMs('heartbeat', 99)).toBe(0)
    statistics.succeeded('heartbeat', 2)
    expect(statistics.summary().percentileMs('heartbeat', 99)).toBeCloseTo(2, 1)
  })
})
