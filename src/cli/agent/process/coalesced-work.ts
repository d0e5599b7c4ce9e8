import type { AgentClock } from '../../../client/agent/agent-clock.ts'
import type { TaskTracker } from '../../../client/agent/tasks/task-tracker.ts'
import { reasonOf } from '../errors.ts'
import type { Log } from '../log.ts'

/** Work that is requested more often than it needs to be done. */
export interface CoalescedWork {
  /** Does the work before long, with what holds by then. Requests during it lead to one more round. */
  request(): void
  /** Whether everything that was requested is done. */
  isIdle(): boolean
  /** Why the last round failed; undefined where it did not. */
  fault(): string | undefined
}

/** What the work needs. */
export interface WorkDeps {
  /** Appears in the log. */
  readonly name: string
  readonly work: () => Promise<void>
  readonly log: Log
  readonly clock: AgentClock
  readonly tasks: TaskTracker
  readonly until: AbortSignal
}

const TOGETHER_MS = 20
const RETRY_MS = 5_000

/** Makes the work, one round at a time. A round that fails is logged, and repeated after a pause that the next request ends. */
export function createCoalescedWork({ name, work, log, clock, tasks, until }: WorkDeps): CoalescedWork {
  let state: 'idle' | 'due' | 'running' | 'again' | 'pausing' = 'idle'
  let fault: string | undefined
  let pausing = new AbortController()
  until.addEventListener('abort', () => pausing.abort(), { once: true })

  function schedule(ms: number): void {
    state = 'due'
    tasks.schedule(ms, round)
  }

  async function pause(): Promise<void> {
    state = 'pausing'
    pausing = new AbortController()
    await clock.pause(RETRY_MS, pausing.signal)
  }

  async function round(): Promise<void> {
    if (until.aborted) return
    state = 'running'
    const failure = await work().then(() => undefined, reasonOf)
    if (failure !== undefined && failure !== fault) log.line(`${name}: ${failure}; tried again in ${RETRY_MS / 1000} s`)
    fault = failure
    const isAgain = state.valueOf() === 'again'
    if (failure !== undefined && !isAgain && !until.aborted) await pause()
    if (failure !== undefined || isAgain) schedule(TOGETHER_MS)
    else state = 'idle'
  }

  return {
    request() {
      if (state === 'idle') schedule(TOGETHER_MS)
      else if (state === 'running') state = 'again'
      else if (state === 'pausing') pausing.abort()
    },
    isIdle: () => state === 'idle',
    fault: () => fault,
  }
}
