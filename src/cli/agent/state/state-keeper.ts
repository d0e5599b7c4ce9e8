import type { AgentClock } from '../../../client/agent/agent-clock.ts'
import type { TaskTracker } from '../../../client/agent/tasks/task-tracker.ts'
import { reasonOf } from '../errors.ts'
import type { Log } from '../log.ts'

/** Keeps the state of a running agent on disk. */
export interface StateKeeper {
  /** Writes the present state. Resolves once it is durable: a write that fails is repeated, and the agent goes on meanwhile. */
  save(): Promise<void>
  /** Writes the state before long. Changes until then are written together. */
  saveSoon(): void
  /** Why the last write failed; undefined where it did not. */
  fault(): string | undefined
}

/** What a keeper needs. */
export interface KeeperDeps {
  /** Writes the state as it is when it is called. */
  readonly write: () => Promise<void>
  readonly log: Log
  readonly clock: AgentClock
  readonly tasks: TaskTracker
  /** A write that fails after it is aborted is not repeated. */
  readonly until: AbortSignal
}

/** Changes within this time are written together. */
const TOGETHER_MS = 1_000
const RETRY_MS = 5_000

/** Makes the keeper. */
export function createStateKeeper({ write, log, clock, tasks, until }: KeeperDeps): StateKeeper {
  let [wanted, written, isDue] = [0, 0, false]
  let writing: Promise<void> | undefined
  let fault: string | undefined

  /** One write at a time; one that began before a change does not count for it. */
  async function drain(): Promise<void> {
    try {
      while (written < wanted) await tryOnce()
    } finally {
      writing = undefined
    }
  }

  async function tryOnce(): Promise<void> {
    const before = wanted
    try {
      await write()
      written = before
      if (fault !== undefined) log.line('state: written again')
      fault = undefined
    } catch (error) {
      if (fault === undefined) log.line(`state: ${reasonOf(error)}; the agent goes on and tries again`)
      fault = reasonOf(error)
      if (until.aborted) throw error
      await clock.pause(RETRY_MS, until)
    }
  }

  const save = (): Promise<void> => {
    wanted += 1
    writing ??= drain()
    return writing
  }

  return {
    save,
    saveSoon() {
      if (isDue) return
      isDue = true
      tasks.schedule(TOGETHER_MS, () => {
        isDue = false
        return save()
      })
    },
    fault: () => fault,
  }
}
