import type { Db } from './datastore.ts'

/** An empty datastore that a backup is restored into, held by this process. */
export interface RestoreTarget {
  /** Whether its database belongs to this process alone until the end. */
  readonly isOwn: boolean
  /** Directory on whose file system the rows will be; undefined where the database is elsewhere. */
  readonly directory: string | undefined
  /**
   * Runs the work in one transaction, and makes its result the datastore of the configuration. Whatever ends it before
   * that, the death of the process included, leaves the target empty.
   */
  fill<T>(work: (tx: Db) => Promise<T>): Promise<T>
  /** Releases it. */
  close(): Promise<void>
}

/** How long one statement of a restore may take, ms: the making of an index over every row is one. */
export const RESTORE_STATEMENT_MS = 3_600_000
