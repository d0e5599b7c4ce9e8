import type { Logger } from 'pino'
import type { AuditSink } from '../../ports/audit-sink.ts'
import { isUnwritable } from '../../ports/datastore.ts'
import type { AuditEntry } from '../../ports/unit-of-work.ts'

/** A row with its id and time, ready to be stored. */
export interface AuditRecord extends AuditEntry {
  readonly id: string
  readonly atMs: number
}

export interface AuditCounters {
  written(rows: number): void
  dropped(rows: number): void
  failed(rows: number): void
}

export interface AuditBatchesDeps {
  readonly sink: AuditSink
  readonly log: Logger
  readonly counters: AuditCounters
}

/** Where rows are stored. Nothing here throws. */
export interface AuditBatches {
  /** Stores rows; false where the datastore is unavailable and all of them must be retried. */
  store(records: readonly AuditRecord[]): Promise<boolean>
  /** Counts a row that will never be stored. */
  lose(entry: AuditEntry): void
  /** Stores the counts of lost rows for their chains; counts that cannot be stored are kept for the next attempt. */
  sayLosses(): Promise<void>
}

/** Domains whose losses are counted separately; those of others count as the platform's. */
const LOSERS_MAX = 1_000

/** Creates the storage of batches: a row that the datastore refuses is found by bisection; its neighbours are stored. */
export function createAuditBatches({ sink, log, counters }: AuditBatchesDeps): AuditBatches {
  let isWaiting = false
  let losses = new Map<string | null, number>()

  function lose({ domainId }: { readonly domainId: string | null }, rows = 1): void {
    const key = losses.has(domainId) || losses.size < LOSERS_MAX ? domainId : null
    losses.set(key, (losses.get(key) ?? 0) + rows)
  }

  async function store(records: readonly AuditRecord[]): Promise<boolean> {
    try {
      await sink.write(records)
      isWaiting = false
      counters.written(records.length)
      return true
    } catch (error) {
      return isUnwritable(error) ? waitForStore(records, error) : storeRest(records, error)
    }
  }

  function waitForStore(records: readonly AuditRecord[], error: unknown): false {
    // Logged once per outage: the retry every second would log a line every second.
    if (!isWaiting) log.error({ err: error, rows: records.length }, 'audit rows wait for the datastore')
    isWaiting = true
    return false
  }

  async function storeRest(records: readonly AuditRecord[], error: unknown): Promise<boolean> {
    if (records.length > 1) {
      const half = records.length >> 1
      // A batch that fails half way because the datastore is unavailable is retried as a whole: a sink stores an id once.
      return (await store(records.slice(0, half))) && (await store(records.slice(half)))
    }
    counters.failed(1)
    const [refused] = records
    if (refused !== undefined) lose(refused)
    log.error({ err: error, audit_row: refused?.id }, 'an audit row was refused')
    return true
  }

  return {
    store,
    lose: (entry) => lose(entry),
    async sayLosses() {
      if (losses.size === 0) return
      const said = losses
      losses = new Map()
      try {
        await sink.lost(said)
      } catch (error) {
        for (const [domainId, rows] of said) lose({ domainId }, rows)
        log.error({ err: error }, 'lost audit rows could not be recorded yet')
      }
    },
  }
}
