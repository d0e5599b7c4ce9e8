import type { Logger } from 'pino'
import type { Clock, IdSource } from '../ports/clock.ts'
import type { AuditEntry } from '../ports/unit-of-work.ts'
import type { AuditSink } from '../ports/audit-sink.ts'

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

/** Where the edge leaves audit rows. */
export interface AuditQueue {
  /** Leaves a row to be written within 50 ms. A full queue drops it, counted. */
  add(entry: AuditEntry): void
  /** Writes the row now and waits, for 500 ms at most; a failure is logged and never thrown (S0 convention 7). */
  write(entry: AuditEntry): Promise<void>
  /** Writes what is queued and stops. */
  close(): Promise<void>
}

export interface AuditQueueDeps {
  readonly sink: AuditSink
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Logger
  readonly counters: AuditCounters
}

const FLUSH_EVERY_MS = 50
const DENIAL_WAIT_MS = 500
/** Rows waiting at most: some seconds of a busy server. */
const WAITING_MAX = 100_000
const BATCH_MAX = 2_000

/** Makes the write-behind queue: one flush at a time, each of one statement. */
export function createAuditQueue({ sink, clock, ids, log, counters }: AuditQueueDeps): AuditQueue {
  let waiting: AuditRecord[] = []
  let timer: NodeJS.Timeout | undefined
  let flushing: Promise<void> | undefined

  const recordOf = (entry: AuditEntry): AuditRecord => ({ ...entry, id: ids.next(), atMs: clock.now() })

  async function store(records: readonly AuditRecord[]): Promise<void> {
    try {
      await sink.write(records)
      counters.written(records.length)
    } catch (error) {
      counters.failed(records.length)
      log.error({ err: error, rows: records.length }, 'audit rows could not be written')
    }
  }

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.length <= BATCH_MAX ? waiting : waiting.slice(0, BATCH_MAX)
      waiting = waiting.length <= BATCH_MAX ? [] : waiting.slice(BATCH_MAX)
      await store(batch)
    }
  }

  function begin(): Promise<void> {
    timer = undefined
    flushing ??= flush().finally(() => {
      flushing = undefined
      if (waiting.length > 0) schedule()
    })
    return flushing
  }

  function schedule(): void {
    if (timer === undefined && flushing === undefined) timer = setTimeout(() => void begin(), FLUSH_EVERY_MS)
  }

  return {
    add(entry) {
      if (waiting.length >= WAITING_MAX) return counters.dropped(1)
      waiting.push(recordOf(entry))
      schedule()
    },
    async write(entry) {
      let giveUp: NodeJS.Timeout | undefined
      const deadline = new Promise<void>((resolve) => {
        giveUp = setTimeout(resolve, DENIAL_WAIT_MS)
      })
      await Promise.race([store([recordOf(entry)]), deadline])
      clearTimeout(giveUp)
    },
    async close() {
      clearTimeout(timer)
      await begin()
    },
  }
}
