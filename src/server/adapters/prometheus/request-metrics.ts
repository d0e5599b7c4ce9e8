/** Upper bounds of the buckets, seconds: the hot path answers in milliseconds, the longest operation within half a minute. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const

/** Answered requests by operation. */
export interface RequestMetrics {
  readonly observe: (operation: string, status: number, seconds: number) => void
  /** The counters in Prometheus' text format, one line a sample. */
  text(): string
}

/** The counts of one operation. */
interface Tally {
  readonly statuses: Map<number, number>
  /** Answers by bucket of their duration; the last bucket has no upper bound. */
  readonly buckets: number[]
  seconds: number
}

/**
 * Counts requests without prom-client: looking up its labels for every request would cost as much as the check that is
 * counted. There are few operations and statuses.
 */
export function createRequestMetrics(): RequestMetrics {
  const tallies = new Map<string, Tally>()

  function tallyOf(operation: string): Tally {
    const known = tallies.get(operation)
    if (known !== undefined) return known
    const tally: Tally = { statuses: new Map(), buckets: Array<number>(BUCKETS.length + 1).fill(0), seconds: 0 }
    tallies.set(operation, tally)
    return tally
  }

  return {
    observe(operation, status, seconds) {
      const tally = tallyOf(operation)
      tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1)
      let bucket = 0
      while (bucket < BUCKETS.length && seconds > (BUCKETS[bucket] ?? 0)) bucket += 1
      tally.buckets[bucket] = (tally.buckets[bucket] ?? 0) + 1
      tally.seconds += seconds
    },
    text() {
      const all = [...tallies]
      return [
        '# HELP http_requests_total Answered requests by operation and status',
        '# TYPE http_requests_total counter',
        ...all.flatMap(([operation, tally]) => requestLines(operation, tally)),
        '# HELP http_request_duration_seconds Time from the first header to the last byte handed over, by operation',
        '# TYPE http_request_duration_seconds histogram',
        ...all.flatMap(([operation, tally]) => durationLines(operation, tally)),
        '',
      ].join('\n')
    },
  }
}

function requestLines(operation: string, { statuses }: Tally): string[] {
  return Array.from(statuses, ([status, count]) => {
    return `http_requests_total{operation="${operation}",status="${status}"} ${count}`
  })
}

function durationLines(operation: string, { buckets, seconds }: Tally): string[] {
  const name = 'http_request_duration_seconds'
  let count = 0
  const bounds = buckets.map((inBucket, index) => {
    count += inBucket
    return `${name}_bucket{le="${BUCKETS[index] ?? '+Inf'}",operation="${operation}"} ${count}`
  })
  return [
    ...bounds,
    `${name}_sum{operation="${operation}"} ${seconds}`,
    `${name}_count{operation="${operation}"} ${count}`,
  ]
}
