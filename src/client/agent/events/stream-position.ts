import { createEventOrder, type EventOrder } from '../../../shared/events/order.ts'
import type { ReceivedEnvelope } from '../../../shared/events/signed-envelope.ts'
import type { MemberIdentity } from '../member.ts'
import type { StreamProgress } from './held-stream.ts'

/** The position in a node's event stream, over any number of connections and runs of the agent. */
export interface StreamPosition {
  readonly order: EventOrder
  /** Moves after an accepted event. `id`: of its frame. */
  accept(id: string | undefined, envelope: ReceivedEnvelope): void
  /** Moves after an event that was seen before. `id`: of its frame. */
  pass(id: string | undefined): void
  progress(): StreamProgress
}

/** Makes the position after the events of earlier runs. */
export function createStreamPosition(stored: MemberIdentity): StreamPosition {
  let lastEventId = stored.last_event_id ?? '0'
  let newest = stored.last_occurred_at
  const latestMs = newest === undefined ? undefined : Date.parse(newest)
  const order = createEventOrder({ last: stored.last_node_seq ?? 0, latestMs })
  function pass(id: string | undefined): void {
    lastEventId = id ?? lastEventId
  }

  return {
    order,
    pass,
    accept(id, { occurred_at: occurredAt }) {
      pass(id)
      if (newest === undefined || Date.parse(newest) < Date.parse(occurredAt)) newest = occurredAt
    },
    progress: () => ({
      last_event_id: lastEventId,
      last_node_seq: order.last() ?? 0,
      ...(newest !== undefined && { last_occurred_at: newest }),
    }),
  }
}
