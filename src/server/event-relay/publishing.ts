import type { Clock } from '../ports/clock.ts'
import type { EventBus, PublishOutcome } from '../ports/event-bus.ts'
import type { LeaderJob } from '../ports/leadership.ts'
import type { RelayCounters } from './counters.ts'
import { readSigned, type Failure, type Signed } from './outgoing-store.ts'
import { countStored, settle, settlementOf } from './settlement.ts'
import { RETRY_MS } from './signing.ts'

export interface PublishingDeps {
  readonly clock: Clock
  readonly bus: EventBus
  readonly counters: Pick<RelayCounters, 'published' | 'publishFailed'>
  /** Called with failed events, which block the later events of their nodes. */
  readonly onFailures: (failures: readonly Failure[]) => void
}

/** Name of the job to wake after events were signed. */
export const PUBLISHING = 'event-publishing'

const EVERY_MS = 250
/** If signing publishes in its own transaction, this job only retries what the stream rejected. */
const RETRY_EVERY_MS = 5_000
const EVENTS_MAX = 500

/** Makes the job that publishes signed events to the stream, in the order in which they were enqueued. */
export function createPublishing(deps: PublishingDeps): LeaderJob {
  const { bus, clock, counters } = deps

  /** @throws EventBusUnavailable. The events are published again; the stream ignores those that it has stored. */
  async function publish(events: readonly Signed[]): Promise<readonly PublishOutcome[]> {
    try {
      return await bus.publish(events)
    } catch (error) {
      counters.publishFailed()
      throw error
    }
  }

  return {
    name: PUBLISHING,
    everyMs: bus.enlisted === undefined ? EVERY_MS : RETRY_EVERY_MS,
    isUrgent: true,
    async run(leading) {
      const triedBefore = new Date(clock.now() - RETRY_MS)
      // In a transaction of the term, so that a former leader publishes nothing.
      const { events, isMore } = await leading.transaction((tx) => readSigned(tx, { max: EVENTS_MAX, triedBefore }))
      if (events.length === 0 || leading.signal.aborted) return false
      const settlement = settlementOf(events, await publish(events))
      await leading.transaction((tx) => settle(tx, settlement, new Date(clock.now())))
      countStored(counters, settlement)
      if (settlement.failures.length > 0) deps.onFailures(settlement.failures)
      return isMore
    },
  }
}
