import { build, type Histogram } from 'hdr-histogram-js'
import type { AgentStatistics } from '../../client/agent/agent-deps.ts'
import { OPERATIONS } from '../../client/agent/calls/operations.ts'
import { EXTRA_COUNTS, type ExtraCount } from './counts.ts'

/** Codes of rate and capacity limits. They are normal under load and counted separately from errors (S1 Capacity). */
const DEFENSIVE = new Set([
  'capacity_exceeded',
  'per_node_rate_limited',
  'per_domain_rate_limited',
  'session_limit_exceeded',
  'rate_limited',
  'overloaded',
  'too_many_bodies',
])

/** Counts outcomes and records latencies per operation. */
export interface Statistics extends AgentStatistics {
  /** Adds to a counter; `by` is 1 by default. */
  count(name: ExtraCount, by?: number): void
  /** Resets the latencies and keeps the counters. */
  resetLatencies(): void
  summary(): Summary
}

export interface Summary {
  /** `errors`, `refusals`, `operations`, `heartbeats`, `registrations`, and the counters of streams, mesh and faults. */
  readonly counts: Readonly<Record<string, number>>
  /** Errors and refusals by operation, code and dimension of capacity, most frequent first. */
  readonly failures: readonly FailureCount[]
  /** Expected failures by operation and code, most frequent first. */
  readonly expected: readonly FailureCount[]
  /** Percentile in ms; 0 if the operation never succeeded. */
  percentileMs(operation: string, percent: number): number
  readonly operations: readonly OperationSummary[]
}

export interface FailureCount {
  readonly operation: string
  readonly code: string
  /** Absent where no dimension of capacity was named. */
  readonly dimension?: string
  readonly count: number
}

/** The code, and the dimension where there is one. */
export function reasonOf({ code, dimension }: FailureCount): string {
  return dimension === undefined ? code : `${code} (${dimension})`
}

export interface OperationSummary {
  readonly operation: string
  readonly count: number
  readonly p50_ms: number
  readonly p95_ms: number
  readonly p99_ms: number
  readonly max_ms: number
}

/** Makes empty statistics. Latencies are recorded in µs, up to one minute, with three significant digits. */
export function createStatistics(): Statistics {
  const histograms = new Map<string, Histogram>(OPERATIONS.map((operation) => [operation, newHistogram()]))
  /** Successes per operation before the last reset of latencies. */
  const beforeReset = new Map<string, number>()
  const failures = createTally()
  const expected = createTally()
  const extraCounts = new Map<ExtraCount, number>(EXTRA_COUNTS.map((name) => [name, 0]))
  const count = (name: ExtraCount, by = 1): void => void extraCounts.set(name, (extraCounts.get(name) ?? 0) + by)
  let errors = 0
  let refusals = 0

  return {
    succeeded(operation, durationMs) {
      histograms.get(operation)?.recordValue(Math.min(60_000_000, Math.max(1, Math.round(durationMs * 1000))))
    },
    failed(operation, code, dimension) {
      if (DEFENSIVE.has(code)) refusals++
      else errors++
      failures.add(operation, code, dimension)
    },
    expected(operation, code, as) {
      count(as)
      expected.add(operation, code)
    },
    count,
    resetLatencies() {
      for (const [operation, histogram] of histograms) {
        beforeReset.set(operation, (beforeReset.get(operation) ?? 0) + histogram.totalCount)
        histogram.reset()
      }
    },
    summary() {
      const recorded = (operation: string) => histograms.get(operation)?.totalCount ?? 0
      const done = (operation: string) => recorded(operation) + (beforeReset.get(operation) ?? 0)
      const percentileMs = (operation: string, percent: number) => percentile(histograms.get(operation), percent)
      return {
        counts: {
          errors,
          refusals,
          operations: OPERATIONS.reduce((sum, operation) => sum + done(operation), 0),
          heartbeats: done('heartbeat'),
          registrations: done('register'),
          ...Object.fromEntries(extraCounts),
        },
        failures: failures.list(),
        expected: expected.list(),
        percentileMs,
        operations: OPERATIONS.filter((operation) => recorded(operation) > 0).map((operation) => ({
          operation,
          count: recorded(operation),
          p50_ms: percentileMs(operation, 50),
          p95_ms: percentileMs(operation, 95),
          p99_ms: percentileMs(operation, 99),
          max_ms: percentileMs(operation, 100),
        })),
      }
    },
  }
}

/** Counts by operation, code and dimension. */
function createTally() {
  const counted = new Map<string, FailureCount & { count: number }>()
  return {
    add(operation: string, code: string, dimension?: string): void {
      const key = `${operation} ${code} ${dimension ?? ''}`
      const seen = counted.get(key) ?? { operation, code, ...(dimension !== undefined && { dimension }), count: 0 }
      seen.count++
      counted.set(key, seen)
    },
    list: (): readonly FailureCount[] =>
      [...counted.values()].map((one) => ({ ...one })).toSorted((a, b) => b.count - a.count),
  }
}

function newHistogram(): Histogram {
  return build({ lowestDiscernibleValue: 1, highestTrackableValue: 60_000_000, numberOfSignificantValueDigits: 3 })
}

function percentile(histogram: Histogram | undefined, percent: number): number {
  if (histogram === undefined || histogram.totalCount === 0) return 0
  return histogram.getValueAtPercentile(percent) / 1000
}
