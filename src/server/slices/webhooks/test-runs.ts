import { TEST_EVENT } from '../../../shared/webhooks/event-types.ts'
import { problem } from '../../../shared/problems.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import { claim } from './claims-store.ts'
import { deliveryOf, messageOf } from './enqueue.ts'
import { holdDomainSlug, insertDeliveries } from './enqueue-store.ts'
import type { Send } from './sender.ts'
import type { Settle } from './settle.ts'
import type { WebhookRecord } from './store.ts'

export interface TestRunsDeps {
  readonly ids: IdSource
  readonly send: Send
  readonly settle: Settle
}

/** Sends a test message within the request, and stores what came of it. Resolves with the id of the delivery. */
export type TestRun = (ctx: RequestContext, webhook: WebhookRecord) => Promise<string>

/** Tests of one webhook in this process at once: each of them holds a request for up to 15 s. */
const RUNNING_MAX = 2
/** How long a claim counts: longer than an attempt takes. */
const CLAIM_MS = 30_000
const RETRY_AFTER_SECONDS = 15

/** A test is a delivery that is claimed from the start: after a crash the worker sends it, with the same id. */
export function createTestRun({ ids, send, settle }: TestRunsDeps): TestRun {
  const running = new Map<string, number>()

  /** Resolves with the delivery. */
  async function begin(ctx: RequestContext, webhook: WebhookRecord, own: string) {
    const { id: webhookId, domain_id } = webhook
    const now = new Date(ctx.nowMs)
    return ctx.change(async ({ db }) => {
      const slug = await holdDomainSlug(db, webhookId)
      if (slug === undefined) throw problem('webhook_not_found')
      const data = { domain_id, domain_slug: slug, path: `/v1/webhooks/${webhookId}`, webhook_id: webhookId }
      const message = messageOf(TEST_EVENT, now, data)
      const delivery = deliveryOf(ids, { webhookId, key: `${TEST_EVENT}:${own}`, message }, now)
      await insertDeliveries(db, [delivery])
      await claim(db, { ids: [delivery.id], claim: own, until: new Date(ctx.nowMs + CLAIM_MS) })
      return { ...delivery, claim: own, tries: 1, url: webhook.url }
    })
  }

  return async (ctx, webhook) => {
    const count = running.get(webhook.id) ?? 0
    if (count >= RUNNING_MAX) throw problem('webhook_test_running', { retry_after_seconds: RETRY_AFTER_SECONDS })
    running.set(webhook.id, count + 1)
    try {
      const delivery = await begin(ctx, webhook, ids.next())
      const outcome = await send(delivery, NEVER)
      if (outcome !== undefined) await settle(delivery, outcome)
      return delivery.id
    } finally {
      const left = (running.get(webhook.id) ?? 1) - 1
      if (left > 0) running.set(webhook.id, left)
      else running.delete(webhook.id)
    }
  }
}

/** The deadline of the fetch ends a test. */
const NEVER = new AbortController().signal
