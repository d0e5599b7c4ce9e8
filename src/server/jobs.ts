import type { Logger } from 'pino'
import type { Backend } from './backend.ts'
import { sweepEphemerals } from './nodes/ephemeral-sweeper.ts'

/** Background work under way. */
export interface Jobs {
  /** Starts no more of it and resolves when what runs has ended. */
  stop(): Promise<void>
}

const SWEEP_EVERY_MS = 30_000

/** Starts the background jobs. Each runs one at a time and waits before it runs again, however long it took. */
export function startJobs(backend: Backend, log: Logger): Jobs {
  const sweep = (): Promise<unknown> =>
    sweepEphemerals({
      ...backend,
      onFailure: (error, nodeId) => log.warn({ err: error, node_id: nodeId }, 'an ephemeral node could not be removed'),
    })
  const jobs = [
    repeat(sweep, SWEEP_EVERY_MS, (error) => log.warn({ err: error }, 'the sweep of ephemeral nodes failed')),
  ]
  return {
    async stop() {
      await Promise.all(jobs.map((job) => job.stop()))
    },
  }
}

function repeat(work: () => Promise<unknown>, everyMs: number, onFailure: (error: unknown) => void): Jobs {
  let running: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const schedule = (): void => {
    if (!isStopped) timer = setTimeout(run, everyMs).unref()
  }
  function run(): void {
    running = work().catch(onFailure).finally(schedule)
  }
  schedule()
  return {
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}
