import type { TimerWheel } from './timer-wheel.ts'

/** The open tasks of the agents, running or scheduled, so that a run can wait for them. */
export interface TaskTracker {
  /** Tracks a running task. */
  track(task: Promise<void>): void
  /** Starts a task after `ms`. It is open from now on. */
  schedule(ms: number, task: () => Promise<void>): void
  /** Whether no task is open. */
  isIdle(): boolean
  /** Cancels the scheduled tasks, and ignores later ones. */
  cancelScheduled(): void
  /** Resolves when no task is open. Rejects as `failed` does. */
  done(): Promise<void>
  /** Rejects with the first error of a task, which is a bug. Never resolves. */
  readonly failed: Promise<never>
}

/** Makes a tracker without tasks. */
export function createTaskTracker(wheel: TimerWheel): TaskTracker {
  let [running, scheduled, isCancelled] = [0, 0, false]
  let listeners: (() => void)[] = []
  let fail: (error: unknown) => void = () => undefined
  const failed = new Promise<never>((_, reject) => {
    fail = reject
  })
  // Avoids an unhandled rejection while no caller waits for it.
  failed.catch(() => undefined)

  const isIdle = (): boolean => running + scheduled === 0

  function wake(): void {
    if (!isIdle()) return
    listeners.forEach((listener) => listener())
    listeners = []
  }

  function track(task: Promise<void>): void {
    running += 1
    const end = (): void => {
      running -= 1
      wake()
    }
    task.catch(fail).then(end, end)
  }

  return {
    track,
    schedule(ms, task) {
      if (isCancelled) return
      scheduled += 1
      wheel.after(ms, () => {
        if (isCancelled) return
        scheduled -= 1
        track(task())
      })
    },
    isIdle,
    cancelScheduled() {
      isCancelled = true
      scheduled = 0
      wake()
    },
    done: () => Promise.race([failed, isIdle() ? undefined : new Promise<void>((resolve) => listeners.push(resolve))]),
    failed,
  }
}
