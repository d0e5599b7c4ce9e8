import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Datastore } from '../../ports/datastore.ts'

/** The background work of a PostgreSQL server that the embedded engine, a single process, does not do itself. */
export interface Chores {
  /** Writes a checkpoint when the log has grown or time has passed; true when it did. Bounds recovery time and disk use. */
  checkpointWhenDue(): Promise<boolean>
  /** Vacuums and analyses the tables that changed enough, one statement each. Returns their names. */
  vacuumWhatChanged(): Promise<string[]>
}

/**
 * The session is nobody's during a checkpoint, and most of that is the syncing of a hundred files, however much is in them:
 * few of them cost less than many. A log of this size is replayed in less than a second.
 */
const CHECKPOINT_WAL_BYTES = 64 * 1024 * 1024
const CHECKPOINT_INTERVAL_MS = 5 * 60_000

/** The rule of autovacuum: a number of changed rows plus a share of the table. */
const CHANGED_ROWS_MIN = 500
const CHANGED_ROWS_SHARE = 0.1

/** After a statement that blocked the session, other callers get this multiple of its duration. */
const YIELD_TIMES = 4

export interface ChoresDeps {
  readonly datastore: Datastore
  readonly monotonicMs: () => number
  /** Leaves the session to others for the given time. */
  readonly rest: (ms: number) => Promise<void>
}

export function createChores({ datastore, monotonicMs, rest }: ChoresDeps): Chores {
  const db = datastore.pool('bulk')
  let lastLsn = '0/0'
  let lastAtMs = monotonicMs()

  async function run(chore: string): Promise<void> {
    const beganMs = monotonicMs()
    await sql.raw(chore).execute(db)
    await rest((monotonicMs() - beganMs) * YIELD_TIMES)
  }

  return {
    async checkpointWhenDue() {
      const { rows } = await sql<{ lsn: string; written: string }>`
        select pg_current_wal_lsn() as lsn, pg_wal_lsn_diff(pg_current_wal_lsn(), ${lastLsn}::pg_lsn) as written`.execute(
        db,
      )
      const written = Number(rows[0]?.written ?? 0)
      const isOld = written > 0 && monotonicMs() - lastAtMs >= CHECKPOINT_INTERVAL_MS
      if (written < CHECKPOINT_WAL_BYTES && !isOld) return false
      await run('checkpoint')
      const after = await sql<{ lsn: string }>`select pg_current_wal_lsn() as lsn`.execute(db)
      lastLsn = after.rows[0]?.lsn ?? lastLsn
      lastAtMs = monotonicMs()
      return true
    },
    async vacuumWhatChanged() {
      const { rows } = await sql<{ name: string }>`
        select format('%I', stats.relname) as name
        from pg_stat_user_tables as stats join pg_class as class on class.oid = stats.relid
        where greatest(stats.n_dead_tup, stats.n_mod_since_analyze, stats.n_ins_since_vacuum)
              > ${CHANGED_ROWS_MIN}::float8 + ${CHANGED_ROWS_SHARE}::float8 * greatest(class.reltuples, 0)
        order by 1`.execute(db)
      // Two short statements instead of a long one: others can run between them.
      for (const { name } of rows) {
        await run(`vacuum ${name}`)
        await run(`analyze ${name}`)
      }
      return rows.map(({ name }) => name)
    },
  }
}

export interface Maintenance {
  /** Writes no checkpoint until the returned function is called, so that no file of the log is removed. Resolves once none is being written. */
  holdLog(): Promise<() => void>
  /** Resolves once all of it has stopped. */
  stop(): Promise<void>
}

export interface MaintenanceHooks {
  readonly warn: (message: string, cause?: unknown) => void
  /** Whether the disk has no room for more than what must be written. */
  readonly isReadOnly: () => boolean
}

const CHORES_INTERVAL_MS = 15_000

/** Runs the maintenance periodically in the background. A failure is reported and retried. */
export function startMaintenance(datastore: Datastore, { warn, isReadOnly }: MaintenanceHooks): Maintenance {
  const stopping = new AbortController()
  const rest = (ms: number): Promise<void> => sleep(ms, undefined, { signal: stopping.signal }).catch(() => undefined)
  const chores = createChores({ datastore, monotonicMs: () => performance.now(), rest })
  let running: Promise<void> = Promise.resolve()
  let holders = 0

  async function round(): Promise<void> {
    try {
      if (holders === 0) await chores.checkpointWhenDue()
      // A checkpoint frees old log; vacuum writes new log.
      if (!isReadOnly()) await chores.vacuumWhatChanged()
    } catch (error) {
      if (!stopping.signal.aborted) warn('maintenance of the embedded datastore failed', error)
    }
  }

  const timer = setInterval(() => {
    running = running.then(() => (stopping.signal.aborted ? undefined : round()))
  }, CHORES_INTERVAL_MS).unref()

  return {
    async holdLog() {
      holders += 1
      await running
      return () => void (holders -= 1)
    },
    async stop() {
      stopping.abort()
      clearInterval(timer)
      await running
    },
  }
}
