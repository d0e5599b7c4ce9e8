import type { Kysely } from 'kysely'
import type { Tables } from './tables/tables.ts'

/** Queries against the datastore: a pool, or a transaction. */
export type Db = Kysely<Tables>

/** The pools that an operator sizes: people and agents wait on `interactive`, background jobs on `worker`, imports and exports on `bulk`. */
export type SizedPool = 'interactive' | 'worker' | 'bulk'

/**
 * Which pool a query uses. `heartbeats` and `node-keys` are connections set aside from those of `interactive`, so that
 * nothing that people ask for can take them from the writing of heartbeats and the look-up of the keys that come with them.
 * `change-feed` is set aside from `worker`: no job can take it from what every cache needs once a second.
 */
export type Pool = SizedPool | 'heartbeats' | 'node-keys' | 'change-feed'

/**
 * PostgreSQL, embedded or not. Errors that a caller can act on arrive as `DatastoreError`; everything else is a bug.
 * A query outside its transaction while one is open on the same async path is a programming error and throws.
 */
export interface Datastore {
  /** `embedded` or `postgres`, for status and log lines. */
  readonly kind: 'embedded' | 'postgres'
  pool(name: Pool): Db
  /** Runs `work` in one READ COMMITTED transaction; commits when it resolves. A deadlock victim is tried once more. */
  transaction<T>(pool: Pool, work: (tx: Db) => Promise<T>): Promise<T>
  /** Resolves when a round trip succeeds within `deadlineMs` and writes are taken. */
  ping(deadlineMs: number): Promise<void>
  /** Why it is lost for as long as this process runs; undefined while it is not. Absent where it can always come back. */
  readonly lost?: () => Error | undefined
  /** Checkpoints where that is ours to do, closes every connection. */
  close(): Promise<void>
}

export type DatastoreFailure =
  /** Not reachable, pool exhausted, deadline passed: retrying later is sound. */
  | 'unavailable'
  /** A unique or exclusion constraint refused the row; `constraint` names it. */
  | 'unique'
  /** A foreign key or check refused the row; `constraint` names it. */
  | 'constraint'
  /** Disk full, read-only, failed fsync: the server no longer takes writes. */
  | 'readonly'

/** A driver error translated at the adapter, so that drivers never cross it. The driver's error is the `cause`. */
export class DatastoreError extends Error {
  readonly failure: DatastoreFailure
  readonly constraint: string | undefined

  constructor(failure: DatastoreFailure, constraint: string | undefined, cause: unknown) {
    super(`datastore: ${failure}${constraint === undefined ? '' : ` (${constraint})`}`, { cause })
    this.name = 'DatastoreError'
    this.failure = failure
    this.constraint = constraint
  }
}

/** Whether a failure says that the datastore cannot be reached now. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof DatastoreError && error.failure === 'unavailable'
}

/** Whether a failure says that the datastore takes no writes now, so that another write would fail alike. */
export function isUnwritable(error: unknown): boolean {
  return error instanceof DatastoreError && (error.failure === 'unavailable' || error.failure === 'readonly')
}

/**
 * The datastore stopped for good: a write or a sync of its log failed, and whatever it said after that could be untrue.
 * Only a new process, which recovers from what is on the disk, can be trusted again.
 */
export class DatastoreStopped extends DatastoreError {
  constructor(cause: unknown) {
    super('unavailable', undefined, cause)
    this.name = 'DatastoreStopped'
  }
}

/** Too many wait for the datastore already: refused at once, nothing was asked of it. */
export class DatastoreOverloaded extends DatastoreError {
  constructor(cause: unknown) {
    super('unavailable', undefined, cause)
    this.name = 'DatastoreOverloaded'
  }
}
