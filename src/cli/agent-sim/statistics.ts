import { build, decodeFromCompressedBase64, encodeIntoCompressedBase64, type Histogram } from 'hdr-histogram-js'
import type { AgentStatistics } from '../../client/agent/agent-deps.ts'
import { OPERATIONS } from '../../client/agent/calls/operations.ts'
import type { GeneratorLoad } from './generator-load.ts'
import { EXTRA_COUNTS, type ExtraCount } from './counts.ts'

/** An endpoint change is waited for longer than any call. */
const MICROSECONDS_MAX = 120_000_000

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

/** What has a histogram: the operations, and the time from an accepted endpoint change until every stream of the Domain has received it. */
export const MEASURES = [...OPERATIONS, 'change_delivery'] as const

/** Counts outcomes and records latencies per operation. */
export interface Statistics extends AgentStatistics {
  /** Adds to a counter; `by` is 1 by default. */
  count(name: ExtraCount, by?: number): void
  /** Every open stream of a Domain has received an endpoint change, after that time. */
  delivered(elapsedMs: number): void
  /** Resets the latencies and keeps the counters. */
  resetLatencies(): void
  summary(): Summary
  /** All of it, for another process. */
  record(): StatisticsRecord
}

/** Statistics as another process sends them. */
export interface StatisticsRecord {
  readonly counts: Readonly<Record<string, number>>
  readonly failures: readonly FailureCount[]
  readonly expected: readonly FailureCount[]
  /** Of the measures that have values: compressed HDR histograms in base64, in µs. */
  readonly histograms: Readonly<Record<string, string>>
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
  /** Absent before the measured part of the run. */
  readonly generator?: GeneratorLoad
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

/** Makes empty statistics. Latencies are recorded in µs, up to two minutes, with three significant digits. */
export function createStatistics(): Statistics {
  const histograms = new Map<string, Histogram>(MEASURES.map((measure) => [measure, newHistogram()]))
  /** Successes per operation before the last reset of latencies. */
  const beforeReset = new Map<string, number>()
  const failures = createTally()
  const expected = createTally()
  const extraCounts = new Map<ExtraCount, number>(EXTRA_COUNTS.map((name) => [name, 0]))
  const count = (name: ExtraCount, by = 1): void => void extraCounts.set(name, (extraCounts.get(name) ?? 0) + by)
  let errors = 0
  let refusals = 0

  function record(measure: string, durationMs: number): void {
    histograms.get(measure)?.recordValue(Math.min(MICROSECONDS_MAX, Math.max(1, Math.round(durationMs * 1000))))
  }

  function counts(): Readonly<Record<string, number>> {
    const done = (operation: string): number =>
      (histograms.get(operation)?.totalCount ?? 0) + (beforeReset.get(operation) ?? 0)
    return {
      errors,
      refusals,
      operations: OPERATIONS.reduce((sum, operation) => sum + done(operation), 0),
      heartbeats: done('heartbeat'),
      registrations: done('register'),
      ...Object.fromEntries(extraCounts),
    }
  }

  return {
    succeeded: record,
    delivered: (elapsedMs) => record('change_delivery', elapsedMs),
    failed(operation, code, dimension) {
      if (DEFENSIVE.has(code)) refusals++
      else errors++
      failures.add({ operation, code, dimension })
    },
    expected(operation, code, as) {
      count(as)
      expected.add({ operation, code, dimension: undefined })
    },
    count,
    resetLatencies() {
      for (const [operation, histogram] of histograms) {
        beforeReset.set(operation, (beforeReset.get(operation) ?? 0) + histogram.totalCount)
        histogram.reset()
      }
    },
    summary: () => summaryOf({ counts: counts(), failures: failures.list(), expected: expected.list(), histograms }),
    record: () => ({
      counts: counts(),
      failures: failures.list(),
      expected: expected.list(),
      histograms: Object.fromEntries(
        [...histograms].flatMap(([measure, histogram]) =>
          histogram.totalCount === 0 ? [] : [[measure, encodeIntoCompressedBase64(histogram)]],
        ),
      ),
    }),
  }
}

/** The summary of several processes together. */
export function mergedSummary(records: readonly StatisticsRecord[]): Summary {
  const counts: Record<string, number> = {}
  const histograms = new Map<string, Histogram>()
  const [failures, expected] = [createTally(), createTally()]
  for (const record of records) {
    for (const [name, value] of Object.entries(record.counts)) counts[name] = (counts[name] ?? 0) + value
    for (const failure of record.failures) failures.add(failure)
    for (const failure of record.expected) expected.add(failure)
    for (const [measure, text] of Object.entries(record.histograms)) {
      const whole = histograms.get(measure) ?? newHistogram()
      whole.add(decodeFromCompressedBase64(text))
      histograms.set(measure, whole)
    }
  }
  return summaryOf({ counts, failures: failures.list(), expected: expected.list(), histograms })
}

interface Recorded extends Omit<StatisticsRecord, 'histograms'> {
  readonly histograms: ReadonlyMap<string, Histogram>
}

function summaryOf({ histograms, ...rest }: Recorded): Summary {
  const percentileMs = (measure: string, percent: number) => percentile(histograms.get(measure), percent)
  const recorded = (measure: string): number => histograms.get(measure)?.totalCount ?? 0
  return {
    ...rest,
    percentileMs,
    operations: MEASURES.filter((measure) => recorded(measure) > 0).map((operation) => ({
      operation,
      count: recorded(operation),
      p50_ms: percentileMs(operation, 50),
      p95_ms: percentileMs(operation, 95),
      p99_ms: percentileMs(operation, 99),
      max_ms: percentileMs(operation, 100),
    })),
  }
}

interface Tallied {
  readonly operation: string
  readonly code: string
  readonly dimension?: string | undefined
  /** 1 by default. */
  readonly count?: number
}

/** Counts by operation, code and dimension. */
function createTally() {
  const counted = new Map<string, FailureCount & { count: number }>()
  return {
    add({ operation, code, dimension, count = 1 }: Tallied): void {
      const key = `${operation} ${code} ${dimension ?? ''}`
      const seen = counted.get(key) ?? { operation, code, ...(dimension !== undefined && { dimension }), count: 0 }
      seen.count += count
      counted.set(key, seen)
    },
    list: (): readonly FailureCount[] =>
      [...counted.values()].map((one) => ({ ...one })).toSorted((a, b) => b.count - a.count),
  }
}

function newHistogram(): Histogram {
  return build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: MICROSECONDS_MAX,
    numberOfSignificantValueDigits: 3,
  })
}

function percentile(histogram: Histogram | undefined, percent: number): number {
  if (histogram === undefined || histogram.totalCount === 0) return 0
  return histogram.getValueAtPercentile(percent) / 1000
}
