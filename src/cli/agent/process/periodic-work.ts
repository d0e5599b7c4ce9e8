import type { AgentClock } from '../../../client/agent/agent-clock.ts'
import type { TaskTracker } from '../../../client/agent/tasks/task-tracker.ts'
import { reasonOf } from '../errors.ts'
import type { Log } from '../log.ts'

/** Work that an agent does again and again. */
export interface PeriodicWork {
  /** Appears in the log. */
  readonly name: string
  /** The pause after a round. */
  readonly everyMs: () => number
  readonly work: () => Promise<void>
}

/** What periodic work needs. */
export interface PeriodicDeps {
  readonly log: Log
  readonly clock: AgentClock
  readonly tasks: TaskTracker
  readonly until: AbortSignal
}

/**
 * Does the work now, and each time after a pause, until the signal is aborted. A failure is logged, and is not the end of it.
 * Resolves once the work was done, or failed, for the first time.
 */
export function startPeriodicWork(
  { log, tasks, until }: PeriodicDeps,
  { name, everyMs, work }: PeriodicWork,
): Promise<void> {
  let fault: string | undefined
  async function round(): Promise<void> {
    if (until.aborted) return
    const failure = await work().then(() => undefined, reasonOf)
    const pauseMs = everyMs()
    if (failure !== undefined && failure !== fault) log.line(`${name}: ${failure}; tried again in ${pauseMs / 1000} s`)
    fault = failure
    tasks.schedule(pauseMs, round)
  }
  const first = round()
  tasks.track(first)
  return first
}
