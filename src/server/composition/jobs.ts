import type { Logger } from 'pino'
import { createKeyRotation } from '../adapters/bundled-provider/key-rotation.ts'
import { createStateSweeper } from '../adapters/bundled-provider/state-sweeper.ts'
import { createFeedPruning } from '../adapters/postgres/feed-pruning.ts'
import type { RelayCounters } from '../event-relay/counters.ts'
import { startLeadership, type Leadership } from '../jobs/leadership.ts'
import { consumptionOf, createConsumption } from '../outbox/consumption.ts'
import { createNumbering, NUMBERING } from '../outbox/numbering.ts'
import { createPruning } from '../outbox/pruning.ts'
import type { LeaderJob } from '../ports/leadership.ts'
import type { NumberedEvent } from '../ports/outbox.ts'
import type { Tracing } from '../ports/tracing.ts'
import { createSecretsReconcile } from '../secrets/reconcile.ts'
import type { Backend } from './backend.ts'
import { createRelayStages, type RelayStages } from './event-relay.ts'
import type { Services } from './services.ts'
import { throttledReporter } from './throttled-reporter.ts'

/** What the jobs need besides the backend. */
export interface JobOptions {
  /** Jobs and consumers of the slices. */
  readonly services: Pick<Services, 'jobs' | 'consumers'>
  readonly log: Logger
  /** Records what is taken from the outbox; not recorded when absent. */
  readonly tracing?: Tracing | undefined
  readonly relayCounters: RelayCounters
  /** Most hints of changed state in a second. */
  readonly hintsPerSecond: number
  /** Makes backups; undefined where there is no schedule. */
  readonly backupJob?: LeaderJob | undefined
}

interface JobsDeps extends JobOptions {
  readonly backend: Backend
  readonly relaying: RelayStages
  /** Begins the next pass of the job of that name now. */
  readonly wake: (job: string) => void
}

/** Everything that one process of a deployment does for all of them: the outbox, the adapters and the slices. */
function leaderJobs({ backend, services, log, wake, relaying, tracing, backupJob }: JobsDeps): readonly LeaderJob[] {
  const { clock, engine, bus } = backend
  // The cursor of each consumer is kept under its name.
  const consumers = [...services.consumers, relaying.consumer]
  const ofAdapters = [
    createFeedPruning(),
    engine.job,
    bus.retention,
    createStateSweeper({ clock }),
    createKeyRotation(backend),
    createSecretsReconcile(backend),
    backupJob,
  ]
  return [
    createNumbering({ ...backend, onNumbered: () => consumers.map(consumptionOf).forEach(wake) }),
    ...consumers.map((consumer) => createConsumption({ ...backend, consumer, tracing, onPoison: poisonReport(log) })),
    ...relaying.jobs,
    createPruning({ ...backend, consumers }),
    ...ofAdapters.filter((job) => job !== undefined),
    ...services.jobs,
  ]
}

function poisonReport(log: Logger) {
  return (consumer: string, { seq, event }: NumberedEvent, error: unknown): void =>
    log.error(
      { err: error, consumer, seq: seq.toString(), event },
      'an outbox row cannot be consumed; those after it wait for it',
    )
}

const JOB_REPORT_EVERY_MS = 60_000

/** Stands for leadership, and does the leader's jobs as long as this process leads. */
export function startJobs(backend: Backend, options: JobOptions): Leadership {
  const { log, hintsPerSecond, relayCounters: counters } = options
  const wake = (job: string): void => leadership.wake(job)
  const relaying = createRelayStages({ ...backend, log, wake, counters, hintsPerSecond })
  const leadership = startLeadership({
    ...backend.candidacy,
    jobs: leaderJobs({ ...options, backend, wake, relaying }),
    outboxJob: NUMBERING,
    reports: {
      // The only process of a deployment has nothing to tell.
      onLeading: () => log[backend.datastore.kind === 'embedded' ? 'debug' : 'info']('this process leads'),
      onLost: (cause) => log.warn({ err: cause }, 'this process no longer leads'),
      onJobFailure: throttledReporter(
        (job, error) => log.warn({ err: error, job }, 'a job of the leader failed; it is tried again'),
        JOB_REPORT_EVERY_MS,
        () => performance.now(),
      ),
      onFailure: (error) => log.warn({ err: error }, 'this process could not stand for leadership; it tries again'),
    },
  })
  return leadership
}
