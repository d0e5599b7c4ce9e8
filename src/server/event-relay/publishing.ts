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
  /** Hears of events that hold up the later ones of their nodes. */
  readonly onFailures: (failures: readonly Failure[]) => void
}

/** The job to wake when there are signed events. */
export const PUBLISHING = 'event-publishing'

const EVERY_MS = 250
/** Where signing gives events to the stream: what it could not, it says. */
const LEFT_EVERY_MS = 5_000
const EVENTS_MAX = 500

/** Gives signed events that wait to the stream, in the order in which they were put on their way, until it has them. */
export function createPublishing(deps: PublishingDeps): LeaderJob {
  const { bus, clock, counters } = deps

  /** @throws EventBusUnavailable; the events are given again, and the stream knows those that it has. */
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
    everyMs: bus.enlisted === undefined ? EVERY_MS : LEFT_EVERY_MS,
    isUrgent: true,
    async run(leading) {
      const triedBefore = new Date(clock.now() - RETRY_MS)
      // In a transaction of the term: who leads no more gives the stream nothing.
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
