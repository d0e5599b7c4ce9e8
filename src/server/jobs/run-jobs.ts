import { LeadershipLost } from '../ports/leadership-lost.ts'
import type { LeaderJob, Leading } from '../ports/leadership.ts'
import { pause, type Pause } from './pause.ts'
import { createSlots } from '../../shared/semaphore.ts'

/** Jobs that run as long as the term lasts. */
export interface RunningJobs {
  /** Starts the next pass of the named job now instead of after its pause. */
  wake(name: string): void
  /** Resolves when the term has ended and no pass is running. */
  readonly ended: Promise<unknown>
}

export interface JobReports {
  /** A pass failed. The job is retried. */
  onFailure(job: string, error: unknown): void
  /** A pass found that another process leads. */
  onLost(error: LeadershipLost): void
}

/** Concurrent passes of the jobs that are not long: fewer than the connections of the worker pool, which the change feed needs too. */
const PASSES_MAX = 4
/** Maximum backoff after consecutive failures, unless the job's own pause is longer. */
const PAUSE_MAX_MS = 10_000

/** Utilization of the event loop above which jobs yield to requests. */
const BUSY_SHARE = 0.8
/** On a busy event loop, a job with more to do pauses for this multiple of the duration of its pass. */
const YIELD_TIMES = 4
/** The same for an urgent job, which thereby uses at most half of the time. */
const URGENT_YIELD_TIMES = 1

/** Runs the jobs concurrently until the term ends. The passes of one job never overlap. */
export function runJobs(jobs: readonly LeaderJob[], leading: Leading, reports: JobReports): RunningJobs {
  const slots = createSlots(PASSES_MAX)
  const loops = jobs.map((job) => ({ name: job.name, ...repeat(job, leading, { ...reports, slots }) }))
  return {
    wake: (name) => loops.find((loop) => loop.name === name)?.wake(),
    ended: Promise.all(loops.map(({ ended }) => ended)),
  }
}

interface Loop {
  wake(): void
  readonly ended: Promise<void>
}

interface LoopDeps extends JobReports {
  readonly slots: ReturnType<typeof createSlots>
}

type PassOutcome = 'more' | 'done' | 'failed'

function repeat(job: LeaderJob, leading: Leading, deps: LoopDeps): Loop {
  const { signal } = leading
  const slots = job.isLong === true ? createSlots(1) : deps.slots
  const yieldTimes = job.isUrgent === true ? URGENT_YIELD_TIMES : YIELD_TIMES
  let resting: Pause | undefined
  let isWoken = false

  async function pass(): Promise<PassOutcome> {
    if (signal.aborted) return 'done'
    isWoken = false
    try {
      return (await job.run(leading)) ? 'more' : 'done'
    } catch (error) {
      if (error instanceof LeadershipLost) deps.onLost(error)
      else if (!signal.aborted) deps.onFailure(job.name, error)
      return 'failed'
    }
  }

  /** Waits for the next pass. A wake-up does not shorten the backoff after a failure. */
  async function rest(failures: number): Promise<void> {
    if (failures > 0) return pause(pauseAfter(failures, job.everyMs), signal).ended
    if (isWoken) return
    resting = pause(job.everyMs, signal)
    await resting.ended
    resting = undefined
  }

  async function run(): Promise<void> {
    let failures = 0
    // The first pass starts in a later microtask, when the caller can already wake the jobs.
    await Promise.resolve()
    if (job.firstAfterMs !== undefined) await pause(job.firstAfterMs, signal).ended
    while (!signal.aborted) {
      const began = performance.eventLoopUtilization()
      const beganMs = performance.now()
      const outcome = await slots.run(pass)
      failures = outcome === 'failed' ? failures + 1 : 0
      if (outcome !== 'more') await rest(failures)
      else if (performance.eventLoopUtilization(began).utilization > BUSY_SHARE)
        await pause((performance.now() - beganMs) * yieldTimes, signal).ended
    }
  }

  return {
    ended: run(),
    wake() {
      isWoken = true
      resting?.cut()
    },
  }
}

function pauseAfter(failures: number, everyMs: number): number {
  return Math.max(everyMs, Math.min(everyMs * 2 ** failures, PAUSE_MAX_MS))
}
