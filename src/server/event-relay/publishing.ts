import type { Clock } from '../ports/clock.ts'
import type { EventBus, PublishOutcome } from '../ports/event-bus.ts'
import type { LeaderJob, Leading } from '../ports/leadership.ts'
import type { RelayCounters } from './counters.ts'
import { grouped } from './grouped.ts'
import { deleteOutgoing, keepFailures, readSigned, type Failure, type Signed } from './outgoing-store.ts'
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
const EVENTS_MAX = 500

/** Gives signed events to the stream, in the order in which they were put on their way, until it has them. */
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

  async function settle(leading: Leading, stored: readonly Signed[], failed: readonly Failure[]): Promise<void> {
    await leading.transaction(async (tx) => {
      await deleteOutgoing(
        tx,
        stored.map(({ id }) => id),
      )
      await keepFailures(tx, failed, new Date(clock.now()))
    })
    for (const [type, events] of grouped(stored, (event) => event.type)) counters.published(type, events.length)
    if (failed.length > 0) deps.onFailures(failed)
  }

  return {
    name: PUBLISHING,
    everyMs: EVERY_MS,
    isUrgent: true,
    async run(leading) {
      const triedBefore = new Date(clock.now() - RETRY_MS)
      // In a transaction of the term: who leads no more gives the stream nothing.
      const events = await leading.transaction((tx) => readSigned(tx, { max: EVENTS_MAX, triedBefore }))
      if (events.length === 0 || leading.signal.aborted) return false
      const outcomes = await publish(events)
      const stored = events.filter((_, index) => outcomes[index]?.kind === 'stored')
      await settle(leading, stored, failuresOf(events, outcomes))
      return events.length === EVENTS_MAX
    },
  }
}

function failuresOf(events: readonly Signed[], outcomes: readonly PublishOutcome[]): Failure[] {
  return events.flatMap(({ id, nodeId }, index) => {
    const outcome = outcomes[index]
    return outcome?.kind === 'refused' ? [{ id, nodeId, reason: outcome.reason }] : []
  })
}
