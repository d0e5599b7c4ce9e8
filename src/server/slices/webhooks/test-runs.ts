import { TEST_EVENT } from '../../../shared/webhooks/event-types.ts'
import { problem } from '../../../shared/problems.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Clock, IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { claim, release } from './claims-store.ts'
import { deliveryOf, messageOf } from './enqueue.ts'
import { holdDomainSlug, insertDeliveries } from './enqueue-store.ts'
import type { Send } from './sender.ts'
import type { Settle } from './settle.ts'
import type { WebhookRecord } from './store.ts'

export interface TestRunsDeps {
  readonly datastore: Datastore
  readonly clock: Clock
  readonly ids: IdSource
  readonly send: Send
  readonly settle: Settle
  /** How long tests may go on when the server stops, ms; default 3 s. */
  readonly stopMs?: number
}

/** Tests of webhooks that this process makes. */
export interface TestRuns {
  /**
   * Sends a test message within the request, and stores what came of it. Resolves with the id of the delivery, which is still pending
   * where the server stopped before the endpoint answered.
   */
  run(ctx: RequestContext, webhook: WebhookRecord): Promise<string>
  /** Ends tests: those that are not over in time are broken off, and are due for the worker of the next process. */
  stop(): Promise<void>
}

/** Tests of one webhook in this process at once: each of them holds a request for up to 15 s. */
const RUNNING_MAX = 2
/** How long a claim counts: longer than an attempt takes. */
const CLAIM_MS = 30_000
const RETRY_AFTER_SECONDS = 15
const STOP_MS = 3_000

/** A test is a delivery that is claimed from the start: after a crash the worker sends it, with the same id. */
export function createTestRuns(deps: TestRunsDeps): TestRuns {
  const { datastore, clock, ids, send, settle, stopMs = STOP_MS } = deps
  const running = new Set<{ readonly webhookId: string; readonly ended: Promise<unknown> }>()
  const stopping = new AbortController()

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

  async function make(ctx: RequestContext, webhook: WebhookRecord): Promise<string> {
    const delivery = await begin(ctx, webhook, ids.next())
    const outcome = await send(delivery, stopping.signal)
    if (outcome === undefined) await release(datastore.pool('worker'), { ...delivery, now: new Date(clock.now()) })
    else await settle(delivery, outcome)
    return delivery.id
  }

  return {
    async run(ctx, webhook) {
      const { id: webhookId } = webhook
      const count = [...running].filter((each) => each.webhookId === webhookId).length
      if (count >= RUNNING_MAX) throw problem('webhook_test_running', { retry_after_seconds: RETRY_AFTER_SECONDS })
      const made = make(ctx, webhook)
      const one = { webhookId, ended: made.catch(() => undefined) }
      running.add(one)
      try {
        return await made
      } finally {
        running.delete(one)
      }
    },
    async stop() {
      const late = setTimeout(() => stopping.abort(), stopMs)
      await Promise.all([...running].map(({ ended }) => ended))
      clearTimeout(late)
      stopping.abort()
    },
  }
}
