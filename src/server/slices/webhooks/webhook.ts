import type { Result } from '../../../shared/contract/operation-types.ts'
import type { webhooks } from '../../../shared/contract/webhooks.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import type { DeliveryRecord } from './deliveries-store.ts'
import type { ShownWebhook } from './store.ts'

type Operations = (typeof webhooks)['operations']
export type WebhookAnswer = Result<Operations['GetWebhook']>
export type DeliveryAnswer = Result<Operations['TestWebhook']>

/** The subject in the audit log of what webhooks do by themselves. */
export const SYSTEM = 'system:webhooks'

/** The webhook in references. */
export function referenceOf(webhookId: string): string {
  return `webhook:${webhookId}`
}

/** The webhook as the API shows it. */
export function toAnswer(webhook: ShownWebhook): WebhookAnswer {
  return {
    id: webhook.id,
    domain_id: webhook.domain_id,
    url: webhook.url,
    events: [...webhook.events],
    for_seconds: webhook.for_seconds,
    description: webhook.description,
    scheme: webhook.scheme,
    public_key: webhook.public_key,
    both_keys_until: instant(webhook.both_keys_until),
    enabled: webhook.disabled_at === null,
    disabled_at: instant(webhook.disabled_at),
    disabled_reason: webhook.disabled_reason,
    failing_since: instant(webhook.failing_since),
    pending: webhook.pending,
    dropped: Number(webhook.dropped),
    created_by: webhook.created_by,
    created_at: webhook.created_at.toISOString(),
    updated_at: webhook.updated_at.toISOString(),
  }
}

/** The delivery as the API shows it. */
export function toDelivery(delivery: DeliveryRecord): DeliveryAnswer {
  const { id, webhook_id, type, state, attempts, last_status, last_failure, last_answer, last_duration_ms } = delivery
  return {
    id,
    webhook_id,
    type,
    state,
    attempts,
    last_attempt_at: instant(delivery.last_attempt_at),
    last_status,
    last_failure,
    last_answer,
    last_duration_ms,
    next_attempt_at: instant(delivery.next_attempt_at),
    // Written by this server: a JSON object.
    message: JSON.parse(delivery.message) as Record<string, unknown>,
    created_at: delivery.created_at.toISOString(),
    ended_at: instant(delivery.ended_at),
  }
}

function instant(at: Date | null): string | null {
  return at === null ? null : at.toISOString()
}

/** Announces what happened to the webhook. */
export function announce(
  change: Change,
  event: 'WebhookCreated' | 'WebhookUpdated' | 'WebhookDeleted',
  { id, domain_id: domainId }: { readonly id: string; readonly domain_id: string },
): void {
  change.emit({ event, domainId, aggregate: referenceOf(id), payload: { webhook_id: id } })
}
