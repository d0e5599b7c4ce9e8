import { setMaxListeners } from 'node:events'
import type { Candidacy, LeaderSeat } from '../ports/leader-seat.ts'
import type { LeaderJob } from '../ports/leadership.ts'
import { pause } from './pause.ts'
import { runJobs, type RunningJobs } from './run-jobs.ts'

export interface LeadershipDeps extends Candidacy {
  /** Name of the job to wake when there may be new outbox rows. */
  readonly hinted: string
  readonly jobs: readonly LeaderJob[]
  readonly reports: LeadershipReports
}

/** What an operator may want to read in the log. */
export interface LeadershipReports {
  onLeading(): void
  /** The term ended though nobody asked for it. */
  onLost(cause: unknown): void
  onJobFailure(job: string, error: unknown): void
  /** The process could not stand for leadership; it tries again. */
  onFailure(error: unknown): void
}

/** A process that leads, or wants to. */
export interface Leadership {
  isLeading(): boolean
  /** Begins the next pass of that job now, if this process leads. */
  wake(job: string): void
  /** Lets the passes under way end, then gives the lead away. */
  stop(): Promise<void>
}

/** How often the lock is asked for by who does not have it, and proven by who has. */
const EVERY_MS = 1_000
/** Pause before another seat is opened after one was lost. */
const REOPEN_MS = 500

/**
 * Stands for leadership until it is stopped: asks for the lock, begins a term when it has it, runs the jobs, proves the
 * lock, and starts again whenever seat or term are lost.
 */
export function startLeadership(deps: LeadershipDeps): Leadership {
  const { reports } = deps
  const stopping = new AbortController()
  let present: Reign | undefined
  let hasFailed = false

  async function lead(seat: LeaderSeat): Promise<void> {
    const term = beginTerm(seat, stopping.signal)
    const keeping = keep(seat, term)
    try {
      const leading = await deps.takeTerm(term.signal)
      reports.onLeading()
      const jobs = runJobs(deps.jobs, leading, {
        onFailure: (job, error) => reports.onJobFailure(job, error),
        onLost: term.end,
      })
      present = { jobs, signal: term.signal }
      await jobs.ended
    } finally {
      present = undefined
      term.end()
      await keeping
    }
    if (term.cause() !== undefined) reports.onLost(term.cause())
  }

  async function stand(): Promise<void> {
    const seat = await deps.openSeat(() => present?.jobs.wake(deps.hinted))
    hasFailed = false
    try {
      if (await untilHeld(seat, stopping.signal)) await lead(seat)
    } finally {
      await seat.leave()
    }
  }

  /** Said once until it worked again: the datastore may be away for long. */
  function report(error: unknown): void {
    if (!hasFailed && !stopping.signal.aborted) reports.onFailure(error)
    hasFailed = true
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await stand().catch(report)
      await pause(REOPEN_MS, stopping.signal).ended
    }
  }

  const ended = run()
  return {
    isLeading: () => present?.signal.aborted === false,
    wake: (job) => present?.jobs.wake(job),
    async stop() {
      stopping.abort()
      await ended
    },
  }
}

/** What runs while this process leads. */
interface Reign {
  readonly jobs: RunningJobs
  readonly signal: AbortSignal
}

interface Term {
  readonly signal: AbortSignal
  readonly end: (cause?: unknown) => void
  /** Why it ended, unless it was asked to. */
  cause(): unknown
}

function beginTerm(seat: LeaderSeat, stopping: AbortSignal): Term {
  const ending = new AbortController()
  // Every job listens to it in its pauses; Node.js would warn of a leak above ten of them.
  setMaxListeners(0, ending.signal)
  let why: unknown
  const end = (cause?: unknown): void => {
    if (ending.signal.aborted) return
    why = cause
    stopping.removeEventListener('abort', stop)
    ending.abort()
  }
  const stop = (): void => end()
  stopping.addEventListener('abort', stop)
  seat.gone.addEventListener('abort', () => end(new Error('the connection that holds the lock is gone')))
  if (stopping.aborted || seat.gone.aborted) ending.abort()
  return { signal: ending.signal, end, cause: () => why }
}

async function untilHeld(seat: LeaderSeat, stopping: AbortSignal): Promise<boolean> {
  while (!stopping.aborted) {
    if (await seat.hold()) return true
    await pause(EVERY_MS, stopping).ended
  }
  return false
}

/** Proves the lock until the term ends, and ends it when the proof fails. */
async function keep(seat: LeaderSeat, term: Term): Promise<void> {
  while (!term.signal.aborted) {
    await pause(EVERY_MS, term.signal).ended
    if (!term.signal.aborted) await seat.hold().catch(term.end)
  }
}
