import type { Logger } from 'pino'
import type { Backend } from './backend.ts'
import { createEventRelay } from '../event-relay/consumer.ts'
import type { RelayCounters } from '../event-relay/counters.ts'
import { createHints, HINTS } from '../event-relay/hints.ts'
import type { Failure } from '../event-relay/outgoing-store.ts'
import { createPublishing, PUBLISHING } from '../event-relay/publishing.ts'
import { createSigning, SIGNING } from '../event-relay/signing.ts'
import type { LeaderJob } from '../ports/leadership.ts'
import type { OutboxConsumer } from '../ports/outbox.ts'
import { OUTBOX_EVENTS } from './outbox-events.ts'

export interface EventRelayDeps extends Pick<Backend, 'datastore' | 'clock' | 'ids' | 'signer' | 'bus'> {
  readonly log: Logger
  readonly counters: RelayCounters
  /** Most hints of changed state in a second. */
  readonly hintsPerSecond: number
  /** Begins the next pass of the job of that name now. */
  readonly wake: (job: string) => void
}

/** The way of events from the outbox to the stream: a consumer, and what it wakes. */
export interface RelayStages {
  readonly consumer: OutboxConsumer
  readonly jobs: readonly LeaderJob[]
}

/** Composes the stages, each of which wakes the next. */
export function createRelayStages({ log, wake, ...deps }: EventRelayDeps): RelayStages {
  const onFailures = failureReport(log)
  return {
    consumer: createEventRelay({
      ...deps,
      declarations: OUTBOX_EVENTS,
      onTaken() {
        wake(SIGNING)
        wake(HINTS)
      },
    }),
    jobs: [
      createHints({ ...deps, onHinted: () => wake(SIGNING) }),
      createSigning({ ...deps, onFailures, onSigned: () => wake(PUBLISHING) }),
      createPublishing({ ...deps, onFailures }),
    ],
  }
}

/** Nodes that are named of those that fail at once; they are tried again, and named again, each minute. */
const NAMED_MAX = 20

function failureReport(log: Logger) {
  return (failures: readonly Failure[]): void => {
    for (const { id, nodeId, reason } of failures.slice(0, NAMED_MAX))
      log.error(
        { node_id: nodeId, outgoing_event: id, reason },
        'an event cannot go on; the later ones of its node wait',
      )
    if (failures.length > NAMED_MAX)
      log.error({ nodes: failures.length - NAMED_MAX }, 'events of further nodes cannot go on')
  }
}
