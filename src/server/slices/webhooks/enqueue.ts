import type { MessageType } from '../../../shared/webhooks/event-types.ts'
import { PENDING_MAX } from '../../../shared/webhooks/limits.ts'
import type { Message, MessageData } from '../../../shared/webhooks/message-shapes.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Db } from '../../ports/datastore.ts'
import { dropSurplus, surplusOf } from './deliveries-store.ts'
import { insertDeliveries, type NewDelivery } from './enqueue-store.ts'
import { lockWebhook } from './store.ts'

/** A message for one webhook. */
export interface Envelope {
  readonly webhookId: string
  /** What happened, once for each webhook. */
  readonly key: string
  readonly message: Message
}

/** A message with its members in the order in which they are documented. */
export function messageOf<Type extends MessageType>(type: Type, at: Date, data: MessageData[Type]): Message<Type> {
  return { type, timestamp: at.toISOString(), data }
}

/** A new delivery of the message. */
export function deliveryOf(ids: IdSource, { webhookId, key, message }: Envelope, now: Date): NewDelivery {
  return {
    id: ids.next(),
    webhook_id: webhookId,
    type: message.type,
    event_key: key,
    message: JSON.stringify(message),
    created_at: now,
  }
}

/**
 * Queues messages for webhooks, which the caller holds. What a webhook was sent under the same key is not queued again. Of a full
 * queue the oldest are dropped and counted.
 */
export async function enqueue(
  tx: Db,
  envelopes: readonly Envelope[],
  { ids, now }: { readonly ids: IdSource; readonly now: Date },
): Promise<void> {
  if (envelopes.length === 0) return
  await insertDeliveries(
    tx,
    envelopes.map((envelope) => deliveryOf(ids, envelope, now)),
  )
  // In one order for all jobs, since each locks webhooks with a full queue until its transaction ends.
  const webhookIds = [...new Set(envelopes.map((envelope) => envelope.webhookId))].toSorted()
  for (const webhookId of webhookIds) await trim(tx, webhookId, now)
}

async function trim(tx: Db, webhookId: string, now: Date): Promise<void> {
  const query = { webhookId, max: PENDING_MAX, now }
  if ((await surplusOf(tx, query)).length === 0) return
  // Everybody locks the webhook before its deliveries.
  await lockWebhook(tx, webhookId)
  await dropSurplus(tx, { webhookId, ids: await surplusOf(tx, query), now })
}
