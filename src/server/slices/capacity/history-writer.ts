import type { Clock } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { createBatchDelete } from '../../sql/batch-delete.ts'
import type { DomainMonitor } from './domain-monitor.ts'
import { raiseMaxima, type HistorySample } from './history-store.ts'

const HOUR_MS = 3_600_000
/** How long the history is kept (decisions: Capacity). */
export const HISTORY_MS = 35 * 24 * HOUR_MS

/** What this leader has written of an hour. */
interface WrittenHour {
  readonly hourMs: number
  /** Of the leader's term: a leader that comes back does not know what others wrote meanwhile. */
  readonly term: AbortSignal
  readonly samples: Map<string, HistorySample>
}

/** The job that keeps the largest sample of each hour. It writes what is larger than before, so mostly nothing. */
export function createHistoryWriter(monitor: DomainMonitor, intervalMs: number): LeaderJob {
  let written: WrittenHour | undefined

  function writtenIn(hourMs: number, term: AbortSignal): WrittenHour {
    if (written?.hourMs !== hourMs || written.term !== term) written = { hourMs, term, samples: new Map() }
    return written
  }

  return {
    name: 'capacity-history',
    // Twice for each sample, so that none is missed.
    everyMs: intervalMs / 2,
    async run(leading) {
      const sampledAtMs = monitor.sampledAtMs()
      if (sampledAtMs === undefined) return false
      const hourMs = sampledAtMs - (sampledAtMs % HOUR_MS)
      const { samples: known } = writtenIn(hourMs, leading.signal)
      const fresh = samplesOf(monitor).filter((sample) => isNews(known.get(keyOf(sample)), sample))
      if (fresh.length === 0) return false
      await leading.transaction((tx) => raiseMaxima(tx, new Date(hourMs), fresh))
      for (const sample of fresh) known.set(keyOf(sample), sample)
      return false
    },
  }
}

/** The job that deletes the hours that are too old. */
export function createHistorySweeper(clock: Clock): LeaderJob {
  return createBatchDelete(clock, {
    name: 'old-capacity-history',
    table: 'capacity_history',
    key: 'ctid',
    endedAt: 'hour',
    keptMs: HISTORY_MS,
    everyMs: 10 * 60_000,
    rowsMax: 2_000,
  })
}

function samplesOf(monitor: DomainMonitor): readonly HistorySample[] {
  return monitor
    .all()
    .flatMap(({ domainId, dimensions }) =>
      dimensions.map(({ dimension, used, target }) => ({ domainId, dimension, used, target })),
    )
}

function isNews(known: HistorySample | undefined, { used, target }: HistorySample): boolean {
  return known === undefined || used > known.used || target !== known.target
}

function keyOf({ domainId, dimension }: HistorySample): string {
  return `${domainId}/${dimension}`
}
