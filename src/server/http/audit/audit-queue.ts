import type { Clock, IdSource } from '../../ports/clock.ts'
import type { AuditEntry } from '../../ports/unit-of-work.ts'
import { createAuditBatches, type AuditBatchesDeps, type AuditRecord } from './audit-batches.ts'
import { createAuditShares } from './audit-shares.ts'

/** Where the edge leaves audit rows. */
export interface AuditQueue {
  /** Queues a row to be written within 50 ms. If its subject has no share of the queue left, the row is dropped and counted. */
  add(entry: AuditEntry): void
  /** Starts a flush with the row and waits for it, 500 ms at most. Never throws (S0 convention 7). */
  write(entry: AuditEntry): Promise<void>
  /** Writes the queued rows and stops; later rows are dropped and counted. */
  close(): Promise<void>
}

export interface AuditQueueDeps extends AuditBatchesDeps {
  readonly clock: Clock
  readonly ids: IdSource
}

const FLUSH_EVERY_MS = 50
const RETRY_AFTER_MS = 1_000
const DENIAL_WAIT_MS = 500
/** Rows waiting at most: some seconds of a busy server. */
const WAITING_MAX = 100_000
const BATCH_MAX = 2_000

/** A caller that waits until the row of that number is stored or dropped. */
interface Waiter {
  readonly number: number
  readonly resolve: () => void
}

/**
 * Creates the write-behind queue: one flush at a time, each of one statement, rows in their order of arrival. While
 * the datastore is unavailable, rows are kept and retried every second. A refused row does not affect its neighbours. Each
 * subject has a share of the queue, so a caller that floods it loses only its own rows.
 */
export function createAuditQueue({ sink, clock, ids, log, counters }: AuditQueueDeps): AuditQueue {
  const batches = createAuditBatches({ sink, log, counters })
  const shares = createAuditShares(WAITING_MAX)
  let waiting: AuditRecord[] = []
  let waiters: Waiter[] = []
  /** Counts of all queued rows, and of those that are stored or dropped. */
  const rows = { added: 0, settled: 0 }
  let timer: NodeJS.Timeout | undefined
  let flushing: Promise<void> | undefined
  let closed = false

  function settle(count: number): void {
    rows.settled += count
    const isReady = ({ number }: Waiter): boolean => number <= rows.settled
    for (const { resolve } of waiters.filter(isReady)) resolve()
    waiters = waiters.filter((waiter) => !isReady(waiter))
  }

  async function flush(): Promise<boolean> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX)
      if (!(await batches.store(batch))) return false
      waiting = waiting.slice(batch.length)
      shares.release(batch)
      settle(batch.length)
    }
    await batches.sayLosses()
    return true
  }

  async function flushAndGoOn(): Promise<void> {
    const isDone = await flush()
    flushing = undefined
    if (!closed && waiting.length > 0) schedule(isDone ? FLUSH_EVERY_MS : RETRY_AFTER_MS)
  }

  function begin(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    flushing ??= flushAndGoOn()
    return flushing
  }

  function schedule(delayMs: number): void {
    if (timer === undefined && flushing === undefined) timer = setTimeout(() => void begin(), delayMs)
  }

  function push(entry: AuditEntry): boolean {
    if (closed || !shares.take(entry)) {
      counters.dropped(1)
      batches.lose(entry)
      return false
    }
    waiting.push(recordOf(entry, ids.next(), clock.now()))
    rows.added += 1
    return true
  }

  return {
    add(entry) {
      if (push(entry)) schedule(FLUSH_EVERY_MS)
    },
    async write(entry) {
      if (!push(entry)) return
      const number = rows.added
      const stored = new Promise<void>((resolve) => {
        const deadline = setTimeout(resolve, DENIAL_WAIT_MS)
        waiters.push({
          number,
          resolve: () => {
            clearTimeout(deadline)
            resolve()
          },
        })
      })
      if (flushing === undefined) void begin()
      await stored
    },
    async close() {
      closed = true
      await begin()
      // A flush under way may have ended without the rows that came while it ran.
      await begin()
      if (waiting.length === 0) return
      counters.failed(waiting.length)
      log.error({ rows: waiting.length }, 'audit rows were lost: the datastore was unavailable when the server stopped')
    },
  }
}

/** Member by member: spreading an object costs several times as much, and this is done for nearly every request. */
function recordOf(entry: AuditEntry, id: string, atMs: number): AuditRecord {
  return {
    id,
    atMs,
    domainId: entry.domainId,
    subject: entry.subject,
    relation: entry.relation,
    object: entry.object,
    outcome: entry.outcome,
    reason: entry.reason,
    correlationId: entry.correlationId,
    context: entry.context,
  }
}
