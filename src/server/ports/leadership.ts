import type { Db } from './datastore.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/** What a job may do while this process leads. */
export interface Leading {
  /** Opens a transaction on the worker pool that first asserts this process's term (`leader_term … for share`). @throws LeadershipLost, before anything is written. */
  transaction<T>(work: (tx: Db) => Promise<T>): Promise<T>
  /** Runs changes like the server's own unit of work, each of them asserting the term first. */
  readonly unitOfWork: UnitOfWork
  /** Aborted when the term is lost or the server stops. */
  readonly signal: AbortSignal
}

/** Work that exactly one process of a deployment does. */
export interface LeaderJob {
  readonly name: string
  /** Pause after each pass, ms. */
  readonly everyMs: number
  /** Pause before the first pass of a term, ms; 0 by default. A wake-up does not shorten it. */
  readonly firstAfterMs?: number
  /** Whether nodes wait for what it does: while there is more to do, it leaves a busy event loop for a shorter time. */
  readonly isUrgent?: boolean
  /** Whether a pass may take minutes: it then counts among no others, so that they keep their turns. */
  readonly isLong?: boolean
  /** One bounded pass. Resolves with whether there is more to do at once. */
  run(leading: Leading): Promise<boolean>
}
