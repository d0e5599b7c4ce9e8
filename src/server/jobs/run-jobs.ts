import { LeadershipLost } from '../ports/leadership-lost.ts'
import type { LeaderJob, Leading } from '../ports/leadership.ts'
import { pause, type Pause } from './pause.ts'
import { createSlots } from '../../shared/semaphore.ts'

/** Jobs that run as long as the term lasts. */
export interface RunningJobs {
  /** Begins the next pass of the job of that name now instead of after its pause. */
  wake(name: string): void
  /** Resolves when the term has ended and no pass runs any more. */
  readonly ended: Promise<unknown>
}

export interface JobReports {
  /** Hears of a pass that failed; there will be another one. */
  onFailure(job: string, error: unknown): void
  /** Hears that a pass found another process leading. */
  onLost(error: LeadershipLost): void
}

/** Passes of different jobs at once: fewer than the connections of the worker pool, which the change feed needs too. */
const PASSES_MAX = 4
/** Longest pause after passes that failed one after another, unless the job's own is longer. */
const PAUSE_MAX_MS = 10_000

/** From this share of its time on, the event loop is taken to be needed by who waits for an answer. */
const BUSY_SHARE = 0.8
/** A job that has more to do leaves a busy event loop so many times as long as its pass took. */
const YIELD_TIMES = 4
/** One that is waited for takes half of the time at most. */
const URGENT_YIELD_TIMES = 1

/** Runs the jobs side by side, the passes of each one after another, until the term ends. */
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
  const yieldTimes = job.isUrgent === true ? URGENT_YIELD_TIMES : YIELD_TIMES
  let resting: Pause | undefined
  let isAwaited = false

  async function pass(): Promise<PassOutcome> {
    if (signal.aborted) return 'done'
    isAwaited = false
    try {
      return (await job.run(leading)) ? 'more' : 'done'
    } catch (error) {
      if (error instanceof LeadershipLost) deps.onLost(error)
      else if (!signal.aborted) deps.onFailure(job.name, error)
      return 'failed'
    }
  }

  /** A wake is for a job that does well: one that fails keeps its distance. */
  async function rest(failures: number): Promise<void> {
    if (failures > 0) return pause(pauseAfter(failures, job.everyMs), signal).ended
    if (isAwaited) return
    resting = pause(job.everyMs, signal)
    await resting.ended
    resting = undefined
  }

  async function run(): Promise<void> {
    let failures = 0
    // The first pass begins once a caller that starts the jobs can wake them.
    await Promise.resolve()
    while (!signal.aborted) {
      const began = performance.eventLoopUtilization()
      const beganMs = performance.now()
      const outcome = await deps.slots.run(pass)
      failures = outcome === 'failed' ? failures + 1 : 0
      if (outcome !== 'more') await rest(failures)
      else if (performance.eventLoopUtilization(began).utilization > BUSY_SHARE)
        await pause((performance.now() - beganMs) * yieldTimes, signal).ended
    }
  }

  return {
    ended: run(),
    wake() {
      isAwaited = true
      resting?.cut()
    },
  }
}

function pauseAfter(failures: number, everyMs: number): number {
  return Math.max(everyMs, Math.min(everyMs * 2 ** failures, PAUSE_MAX_MS))
}
