import type { Logger } from 'pino'
import { createAuditRetention } from './audit/retention.ts'
import { createAuditSealer } from './audit/sealer.ts'
import { sha256 } from './audit/sha256.ts'
import type { Backend } from './backend.ts'
import { sweepEphemerals } from './nodes/ephemeral-sweeper.ts'
import type { LeaderJob, Leading } from './ports/leadership.ts'

/** Background work under way. */
export interface Jobs {
  /** Starts no more of it and resolves when what runs has ended. */
  stop(): Promise<void>
}

/** What jobs are told besides the ports. */
export interface JobOptions {
  readonly auditRetentionDays: number
}

const SWEEP_EVERY_MS = 30_000

/** Rows sealed in one transaction. The embedded datastore has one session, for which people wait meanwhile. */
const SEAL_ROWS = { embedded: 500, postgres: 2_000 } as const

/** Everything that one process of a deployment does for all of them. */
function leaderJobs(backend: Backend, { auditRetentionDays: platformDays }: JobOptions): readonly LeaderJob[] {
  const batchRows = SEAL_ROWS[backend.datastore.kind]
  return [createAuditSealer({ ...backend, sha256, batchRows }), createAuditRetention({ ...backend, platformDays })]
}

/** Starts the background jobs. Each runs one at a time and waits before it runs again, however long it took. */
export function startJobs(backend: Backend, log: Logger, options: JobOptions): Jobs {
  const sweep = (): Promise<unknown> =>
    sweepEphemerals({
      ...backend,
      onFailure: (error, nodeId) => log.warn({ err: error, node_id: nodeId }, 'an ephemeral node could not be removed'),
    })
  const stopping = new AbortController()
  const leading: Leading = {
    transaction: (work) => backend.datastore.transaction('worker', work),
    unitOfWork: backend.unitOfWork,
    signal: stopping.signal,
  }
  const jobs = [
    repeat(sweep, SWEEP_EVERY_MS, (error) => log.warn({ err: error }, 'the sweep of ephemeral nodes failed')),
    ...leaderJobs(backend, options).map((job) =>
      repeat(
        () => runWhole(job, leading),
        job.everyMs,
        (error) => log.warn({ err: error, job: job.name }, 'a job of the leader failed; it is tried again'),
      ),
    ),
  ]
  return {
    async stop() {
      stopping.abort()
      await Promise.all(jobs.map((job) => job.stop()))
    },
  }
}

/** Passes follow one another while there is more to do. */
async function runWhole(job: LeaderJob, leading: Leading): Promise<void> {
  while (!leading.signal.aborted && (await job.run(leading)));
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
