import { build, type Histogram } from 'hdr-histogram-js'

/** What an agent does against the server, one histogram each; `stream` is until the head of a stream's answer is here. */
export const OPERATIONS = ['register', 'heartbeat', 'deregister', 'stream'] as const
export type SimulatedOperation = (typeof OPERATIONS)[number]

/** What is counted of event streams. */
export const EVENT_COUNTS = [
  /** Open now. */
  'streams',
  /** Genuine ones, each once. */
  'events',
  /** Left out and not come since, or never come although the server has them. */
  'missed_events',
  /** Of no published key, or not of the one that is named. */
  'bad_signatures',
  'duplicate_events',
  'reordered_events',
  /** That are no envelope, of another node, too large, or announced as what they are not. */
  'refused_frames',
  /** Events that say that more changed than is told. */
  'resyncs',
  'stream_reconnects',
  /** Whose end could not be compared with the server's. */
  'unconfirmed_streams',
] as const
export type EventCount = (typeof EVENT_COUNTS)[number]

/** Codes by which a server defends itself; expected under load, counted apart from errors (S1 Capacity). */
const DEFENSIVE = new Set([
  'capacity_exceeded',
  'per_node_rate_limited',
  'per_domain_rate_limited',
  'session_limit_exceeded',
  'rate_limited',
])

/** How often each operation ended how, and how long it took. */
export interface Statistics {
  succeeded(operation: SimulatedOperation, durationMs: number): void
  /** `code` is the problem code, or the client's own word for a failure without an answer. */
  failed(operation: SimulatedOperation, code: string): void
  /** Adds to a count of event streams; one when nothing is said. */
  count(name: EventCount, by?: number): void
  summary(): Summary
}

export interface Summary {
  /** `errors`, `refusals`, `operations`, `heartbeats`, `registrations`, and those of event streams. */
  readonly counts: Readonly<Record<string, number>>
  /** Failures by operation and code, most frequent first. */
  readonly failures: readonly { readonly operation: string; readonly code: string; readonly count: number }[]
  /** Milliseconds; 0 when the operation never succeeded. */
  percentileMs(operation: string, percent: number): number
  readonly operations: readonly OperationSummary[]
}

export interface OperationSummary {
  readonly operation: string
  readonly count: number
  readonly p50_ms: number
  readonly p95_ms: number
  readonly p99_ms: number
  readonly max_ms: number
}

/** Keeps microseconds up to one minute with three significant digits. */
export function createStatistics(): Statistics {
  const histograms = new Map<string, Histogram>(OPERATIONS.map((operation) => [operation, newHistogram()]))
  const failures = new Map<string, { operation: string; code: string; count: number }>()
  const eventCounts = new Map<EventCount, number>(EVENT_COUNTS.map((name) => [name, 0]))
  let errors = 0
  let refusals = 0

  return {
    succeeded(operation, durationMs) {
      histograms.get(operation)?.recordValue(Math.min(60_000_000, Math.max(1, Math.round(durationMs * 1000))))
    },
    failed(operation, code) {
      if (DEFENSIVE.has(code)) refusals++
      else errors++
      const key = `${operation} ${code}`
      const seen = failures.get(key) ?? { operation, code, count: 0 }
      seen.count++
      failures.set(key, seen)
    },
    count(name, by = 1) {
      eventCounts.set(name, (eventCounts.get(name) ?? 0) + by)
    },
    summary() {
      const count = (operation: string) => histograms.get(operation)?.totalCount ?? 0
      const percentileMs = (operation: string, percent: number) => percentile(histograms.get(operation), percent)
      return {
        counts: {
          errors,
          refusals,
          operations: OPERATIONS.reduce((sum, operation) => sum + count(operation), 0),
          heartbeats: count('heartbeat'),
          registrations: count('register'),
          ...Object.fromEntries(eventCounts),
        },
        failures: [...failures.values()].map((failure) => ({ ...failure })).toSorted((a, b) => b.count - a.count),
        percentileMs,
        operations: OPERATIONS.filter((operation) => count(operation) > 0).map((operation) => ({
          operation,
          count: count(operation),
          p50_ms: percentileMs(operation, 50),
          p95_ms: percentileMs(operation, 95),
          p99_ms: percentileMs(operation, 99),
          max_ms: percentileMs(operation, 100),
        })),
      }
    },
  }
}

function newHistogram(): Histogram {
  return build({ lowestDiscernibleValue: 1, highestTrackableValue: 60_000_000, numberOfSignificantValueDigits: 3 })
}

function percentile(histogram: Histogram | undefined, percent: number): number {
  if (histogram === undefined || histogram.totalCount === 0) return 0
  return histogram.getValueAtPercentile(percent) / 1000
}
