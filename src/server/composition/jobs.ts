import type { Logger } from 'pino'
import { createKeyRotation } from '../adapters/bundled-provider/key-rotation.ts'
import { createStateSweeper } from '../adapters/bundled-provider/state-sweeper.ts'
import { createOutgoingFetch } from '../adapters/outgoing-fetch/outgoing-fetch.ts'
import { createFeedPruning } from '../adapters/postgres/feed-pruning.ts'
import { createAuditRetention } from '../slices/audit/retention.ts'
import { createAuditSealer } from '../slices/audit/sealer.ts'
import { sha256 } from '../slices/audit/sha256.ts'
import type { Backend } from './backend.ts'
import { createDeviceSweeper } from '../slices/device-flow/device-sweeper.ts'
import { createInvitationSweeper } from '../slices/invitations/invitation-sweeper.ts'
import { createJoinTokenSweeper } from '../slices/join-tokens/join-token-sweeper.ts'
import type { RelayCounters } from '../event-relay/counters.ts'
import { createExecutionForgetting, createExecutionTimeouts } from '../slices/executions/execution-sweeper.ts'
import { createParentEdgeConsumer } from '../slices/identities/parent-edge-consumer.ts'
import { startLeadership, type Leadership } from '../jobs/leadership.ts'
import { createEndpointSweeper } from '../slices/node-observations/endpoint-sweeper.ts'
import { createViolationSweeper } from '../slices/node-observations/violation-sweeper.ts'
import {
  createMediatedSessionEnds,
  createMediatedSessionForgetting,
} from '../slices/mediated-sessions/session-sweeper.ts'
import { createRelayChoice } from '../slices/mesh/relay-choice.ts'
import { createEphemeralSweeper } from '../slices/nodes/ephemeral-sweeper.ts'
import { createKeySweeper } from '../slices/nodes/key-sweeper.ts'
import { createPeerMarker } from '../slices/nodes/peer-marker.ts'
import { createReachabilitySweeper } from '../slices/nodes/reachability-sweeper.ts'
import { consumptionOf, createConsumption } from '../outbox/consumption.ts'
import { createNumbering, NUMBERING } from '../outbox/numbering.ts'
import { createPruning } from '../outbox/pruning.ts'
import type { LeaderJob } from '../ports/leadership.ts'
import type { NumberedEvent, OutboxConsumer } from '../ports/outbox.ts'
import type { Tracing } from '../ports/tracing.ts'
import { createSignInSweeper } from '../slices/sign-in/sign-in-sweeper.ts'
import { createSessionSweeper } from '../slices/sessions/session-sweeper.ts'
import { createTokenSweeper } from '../slices/tokens/token-sweeper.ts'
import { createAssertionSweeper } from '../slices/workloads/assertion-sweeper.ts'
import { createBundleRefresher } from '../slices/workloads/bundle-refresher.ts'
import { reportRefreshFailure } from './refresh-report.ts'
import { createRelaying, type Relaying } from './relaying.ts'
import { sparingReport } from './throttled-reporter.ts'

/** What jobs are told besides the ports. */
export interface JobOptions {
  /** Records what is taken from the outbox; not recorded when absent. */
  readonly tracing?: Tracing | undefined
  readonly auditRetentionDays: number
  readonly relayCounters: RelayCounters
}

/** Rows sealed in one transaction: a few milliseconds of this process, and on the embedded datastore of its one session. */
const SEAL_ROWS = 250

interface JobsDeps extends JobOptions {
  readonly backend: Backend
  readonly log: Logger
  readonly relaying: Relaying
  /** Begins the next pass of the job of that name now. */
  readonly wake: (job: string) => void
}

/** Everything that one process of a deployment does for all of them. */
function leaderJobs({ backend, log, wake, relaying, ...options }: JobsDeps): readonly LeaderJob[] {
  const { auditRetentionDays, tracing } = options
  // What follows the outbox. The cursor of each is kept under its name.
  const consumers: readonly OutboxConsumer[] = [createParentEdgeConsumer(), relaying.consumer]
  return [
    createNumbering({ ...backend, onNumbered: () => consumers.map(consumptionOf).forEach(wake) }),
    ...consumers.map((consumer) => createConsumption({ ...backend, consumer, tracing, onPoison: poisonReport(log) })),
    ...relaying.jobs,
    createPruning({ ...backend, consumers }),
    createFeedPruning(),
    ...(backend.engine.job === undefined ? [] : [backend.engine.job]),
    ...(backend.bus.retention === undefined ? [] : [backend.bus.retention]),
    createAuditSealer({ ...backend, sha256, batchRows: SEAL_ROWS }),
    createAuditRetention({ ...backend, platformDays: auditRetentionDays }),
    createReachabilitySweeper(backend),
    createEndpointSweeper(backend),
    createViolationSweeper(backend),
    createRelayChoice(backend),
    createPeerMarker(backend),
    createTokenSweeper(backend),
    createAssertionSweeper(backend),
    createBundleRefresher({
      ...backend,
      outgoingFetch: createOutgoingFetch(),
      onFailure: reportRefreshFailure(log),
    }),
    createJoinTokenSweeper(backend),
    createInvitationSweeper(backend),
    createKeySweeper(backend),
    createStateSweeper(backend),
    createKeyRotation(backend),
    createSessionSweeper(backend),
    createSignInSweeper(backend),
    createDeviceSweeper(backend),
    createExecutionTimeouts(backend),
    createExecutionForgetting(backend),
    createMediatedSessionEnds(backend),
    createMediatedSessionForgetting(backend),
    createEphemeralSweeper({
      ...backend,
      onFailure: (error, nodeId) => log.warn({ err: error, node_id: nodeId }, 'an ephemeral node could not be removed'),
    }),
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
export function startJobs(backend: Backend, log: Logger, options: JobOptions): Leadership {
  const wake = (job: string): void => leadership.wake(job)
  const relaying = createRelaying({ ...backend, log, wake, counters: options.relayCounters })
  const leadership = startLeadership({
    ...backend.candidacy,
    jobs: leaderJobs({ ...options, backend, log, wake, relaying }),
    hinted: NUMBERING,
    reports: {
      // The only process of a deployment has nothing to tell.
      onLeading: () => log[backend.datastore.kind === 'embedded' ? 'debug' : 'info']('this process leads'),
      onLost: (cause) => log.warn({ err: cause }, 'this process no longer leads'),
      onJobFailure: sparingReport(
        (job, error) => log.warn({ err: error, job }, 'a job of the leader failed; it is tried again'),
        JOB_REPORT_EVERY_MS,
        () => performance.now(),
      ),
      onFailure: (error) => log.warn({ err: error }, 'this process could not stand for leadership; it tries again'),
    },
  })
  return leadership
}
