import { setMaxListeners } from 'node:events'
import type { Candidacy, LeaderSeat } from '../ports/leader-seat.ts'
import type { LeaderJob } from '../ports/leadership.ts'
import { pause } from './pause.ts'
import { runJobs, type RunningJobs } from './run-jobs.ts'

export interface LeadershipDeps extends Candidacy {
  /** Name of the job to wake when there may be new outbox rows. */
  readonly outboxJob: string
  readonly jobs: readonly LeaderJob[]
  readonly reports: LeadershipReports
}

/** Callbacks for the log. */
export interface LeadershipReports {
  onLeading(): void
  /** The term ended before the server stopped. */
  onLost(cause: unknown): void
  onJobFailure(job: string, error: unknown): void
  /** The process could not compete for leadership; it retries. */
  onFailure(error: unknown): void
}

/** This process as a candidate for leadership, or as the leader. */
export interface Leadership {
  isLeading(): boolean
  /** Starts the next pass of that job now, if this process leads. */
  wake(job: string): void
  /** Waits for the running passes, then releases the lock. */
  stop(): Promise<void>
}

/** Pause between two tries to take the lock, and between two checks that the leader still has it. */
const EVERY_MS = 1_000
/** Pause before the next seat is opened after one was lost. */
const REOPEN_MS = 500

/**
 * Competes for leadership until it is stopped: tries to take the lock, starts a term when it has it, runs the jobs, checks
 * the lock, and starts again whenever the seat or the term is lost.
 */
export function startLeadership(deps: LeadershipDeps): Leadership {
  const { reports } = deps
  const stopping = new AbortController()
  let current: ActiveTerm | undefined
  let hasFailed = false

  async function lead(seat: LeaderSeat): Promise<void> {
    const term = beginTerm(seat, stopping.signal)
    const checking = checkLock(seat, term)
    try {
      const leading = await deps.takeTerm(term.signal)
      reports.onLeading()
      const jobs = runJobs(deps.jobs, leading, {
        onFailure: (job, error) => reports.onJobFailure(job, error),
        onLost: term.end,
      })
      current = { jobs, signal: term.signal }
      await jobs.ended
    } finally {
      current = undefined
      term.end()
      await checking
    }
    if (term.cause() !== undefined) reports.onLost(term.cause())
  }

  async function compete(): Promise<void> {
    const seat = await deps.openSeat(() => current?.jobs.wake(deps.outboxJob))
    hasFailed = false
    try {
      if (await untilHeld(seat, stopping.signal)) await lead(seat)
    } finally {
      await seat.leave()
    }
  }

  /** Reports only the first of consecutive failures, because the datastore may be unavailable for hours. */
  function report(error: unknown): void {
    if (!hasFailed && !stopping.signal.aborted) reports.onFailure(error)
    hasFailed = true
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await compete().catch(report)
      await pause(REOPEN_MS, stopping.signal).ended
    }
  }

  const ended = run()
  return {
    isLeading: () => current?.signal.aborted === false,
    wake: (job) => current?.jobs.wake(job),
    async stop() {
      stopping.abort()
      await ended
    },
  }
}

/** What runs while this process leads. */
interface ActiveTerm {
  readonly jobs: RunningJobs
  readonly signal: AbortSignal
}

interface Term {
  readonly signal: AbortSignal
  readonly end: (cause?: unknown) => void
  /** Why it ended; undefined for a regular stop. */
  cause(): unknown
}

function beginTerm(seat: LeaderSeat, stopping: AbortSignal): Term {
  const ending = new AbortController()
  // Every job adds a listener in its pauses. Node.js reports a leak above ten listeners.
  setMaxListeners(0, ending.signal)
  let endCause: unknown
  const end = (cause?: unknown): void => {
    if (ending.signal.aborted) return
    endCause = cause
    stopping.removeEventListener('abort', stop)
    ending.abort()
  }
  const stop = (): void => end()
  stopping.addEventListener('abort', stop)
  seat.gone.addEventListener('abort', () => end(new Error('the connection that holds the lock is gone')))
  if (stopping.aborted || seat.gone.aborted) ending.abort()
  return { signal: ending.signal, end, cause: () => endCause }
}

async function untilHeld(seat: LeaderSeat, stopping: AbortSignal): Promise<boolean> {
  while (!stopping.aborted) {
    if (await seat.hold()) return true
    await pause(EVERY_MS, stopping).ended
  }
  return false
}

/** Checks the lock until the term ends, and ends the term when a check fails. */
async function checkLock(seat: LeaderSeat, term: Term): Promise<void> {
  while (!term.signal.aborted) {
    await pause(EVERY_MS, term.signal).ended
    if (!term.signal.aborted) await seat.hold().catch(term.end)
  }
}
