/** Starts a job when no other one runs; resolves once it, or a later one that took its place, has ended. */
export type LatestOnly = (job: () => Promise<void>) => Promise<void>

interface Waiting {
  job: () => Promise<void>
  readonly done: Promise<void>
}

/** Runs one job at a time. Of the jobs that come while one runs only the latest is run. */
export function createLatestOnly(): LatestOnly {
  let running: Promise<void> | undefined
  let waiting: Waiting | undefined

  function start(job: () => Promise<void>): Promise<void> {
    running = job().finally(() => {
      running = undefined
    })
    return running
  }

  async function startWaiting(before: Promise<void>): Promise<void> {
    // The callers of that job have its error.
    await before.catch(() => undefined)
    const next = waiting
    waiting = undefined
    if (next !== undefined) await start(next.job)
  }

  return (job) => {
    if (waiting !== undefined) {
      waiting.job = job
      return waiting.done
    }
    if (running === undefined) return start(job)
    waiting = { job, done: startWaiting(running) }
    return waiting.done
  }
}
