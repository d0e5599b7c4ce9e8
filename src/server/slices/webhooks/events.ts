import { z } from 'zod'
import { toNobody } from '../../ports/outbox-events.ts'

const webhook = z.object({ webhook_id: z.string() })

/** Outbox events of webhooks. None has the address, which may be a secret of the endpoint. */
export const events = {
  WebhookCreated: toNobody(webhook),
  WebhookUpdated: toNobody(webhook),
  WebhookDeleted: toNobody(webhook),
  WebhookDisabled: toNobody(webhook.extend({ reason: z.string() })),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}
