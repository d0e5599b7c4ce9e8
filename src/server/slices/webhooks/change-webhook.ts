import type { Input } from '../../../shared/contract/operation-types.ts'
import type { webhooks } from '../../../shared/contract/webhooks.ts'
import { problem } from '../../../shared/problems.ts'
import type { WebhookEvent } from '../../../shared/webhooks/event-types.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { dropPending } from './deliveries-store.ts'
import {
  disabled,
  enabled,
  lockWebhook,
  UNFAILED,
  updateWebhook,
  type WebhookChange,
  type WebhookRecord,
} from './store.ts'
import { announce, referenceOf } from './webhook.ts'

type Patch = Input<(typeof webhooks)['operations']['PatchWebhook']>['body']

/** The types in alphabetical order, each once. */
export function sortedEvents(events: readonly WebhookEvent[]): WebhookEvent[] {
  return [...new Set(events)].toSorted()
}

/**
 * Applies the patch. What waits for a webhook that it disables is dropped, and so is what was queued for a disabled one that it
 * enables: while that was being disabled, or by a test that a crash broke off.
 * @throws Problem `webhook_not_found`, `webhook_already_exists`
 */
export async function changeWebhook(
  change: Change,
  id: string,
  { patch, now }: { readonly patch: Patch; readonly now: Date },
): Promise<void> {
  const { db } = change
  const webhook = await lockWebhook(db, id)
  if (webhook === undefined) throw problem('webhook_not_found')
  const isEnding = patch.enabled === false && webhook.disabled_at === null
  const isBeginning = patch.enabled === true && webhook.disabled_at !== null
  const columns = { ...columnsOf(patch), ...failuresOf(patch, webhook), ...statusOf(patch, webhook, now) }
  await updateWebhook(db, id, { ...columns, updated_at: now })
  if (isEnding || isBeginning) await dropPending(db, id, now)
  if (isEnding)
    change.emit({
      event: 'WebhookDisabled',
      domainId: webhook.domain_id,
      aggregate: referenceOf(id),
      payload: { webhook_id: id, reason: 'requested' },
    })
  announce(change, 'WebhookUpdated', webhook)
}

function columnsOf({ url, events, for_seconds, description }: Patch): WebhookChange {
  return {
    ...(url !== undefined && { url }),
    ...(events !== undefined && { events: sortedEvents(events) }),
    ...(for_seconds !== undefined && { for_seconds }),
    ...(description !== undefined && { description }),
  }
}

/** Failures are those of an endpoint: another address of an enabled webhook begins without any. */
function failuresOf({ url }: Patch, webhook: WebhookRecord): WebhookChange {
  return url !== undefined && url !== webhook.url && webhook.disabled_at === null ? UNFAILED : {}
}

/** Enabling an enabled webhook ends its pause; its failures begin to count again. */
function statusOf({ enabled: wanted }: Patch, webhook: WebhookRecord, now: Date): WebhookChange {
  if (wanted === undefined) return {}
  if (wanted) return enabled(now)
  return webhook.disabled_at === null ? disabled('requested', now) : {}
}
