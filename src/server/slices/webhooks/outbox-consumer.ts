import type { Clock, IdSource } from '../../ports/clock.ts'
import type { OutboxConsumer } from '../../ports/outbox.ts'
import { enqueue, type Envelope } from './enqueue.ts'
import { holdSubscribers, namesOf, type Subscriber } from './enqueue-store.ts'
import type { NodeWatch } from './node-watch.ts'
import { isSource, nodeOf, rowOf, type SourceEvent } from './outbox-messages.ts'

export interface WebhookConsumerDeps {
  readonly clock: Clock
  readonly ids: IdSource
  /** Takes which nodes became silent, or are back. */
  readonly nodeWatch: Pick<NodeWatch, 'take'>
}

/** Queues the messages of outbox events, in the transaction that moves the cursor: each is queued once. */
export function createWebhookConsumer({ clock, ids, nodeWatch }: WebhookConsumerDeps): OutboxConsumer {
  return {
    name: 'webhooks',
    async handle({ db }, events) {
      nodeWatch.take(events)
      const sources = events.filter(isSource)
      if (sources.length === 0) return
      const subscribers = await holdSubscribers(db, [...new Set(sources.map(({ domainId }) => domainId))])
      if (subscribers.length === 0) return
      const names = await namesOf(db, [...new Set(sources.flatMap((event) => nodeOf(event) ?? []))])
      const nameOf = (nodeId: string): string | undefined => names.get(nodeId)
      const envelopes = sources.flatMap((event) => envelopesOf(event, subscribers, nameOf))
      await enqueue(db, envelopes, { ids, now: new Date(clock.now()) })
    },
  }
}

/** One for each webhook that was there when it happened. */
function envelopesOf(
  event: SourceEvent,
  subscribers: readonly Subscriber[],
  nameOf: (nodeId: string) => string | undefined,
): readonly Envelope[] {
  const { type, key, messageFor } = rowOf(event)
  return subscribers
    .filter(({ domain_id: id, created_at: at }) => id === event.domainId && at <= event.occurredAt)
    .filter(({ events }) => (events as readonly string[]).includes(type))
    .map(({ id: webhookId, domain_id, domain_slug }) => ({
      webhookId,
      key,
      message: messageFor({ domain: { domain_id, domain_slug }, at: event.occurredAt, nameOf }),
    }))
}
