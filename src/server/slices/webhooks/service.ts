import type { Input } from '../../../shared/contract/operation-types.ts'
import type { webhooks } from '../../../shared/contract/webhooks.ts'
import { problem } from '../../../shared/problems.ts'
import { FOR_SECONDS, WEBHOOKS_MAX } from '../../../shared/webhooks/limits.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { byIdDescending } from '../../sql/keyset.ts'
import { admitTo } from './admit.ts'
import { changeWebhook, sortedEvents } from './change-webhook.ts'
import { findDelivery, listDeliveries, requeue } from './deliveries-store.ts'
import { requireUrl, type EndpointRules } from './endpoint.ts'
import { giveKey, type KeysDeps } from './keys.ts'
import * as store from './store.ts'
import type { TestRuns } from './test-runs.ts'
import { announce, referenceOf, toAnswer, toDelivery } from './webhook.ts'

export interface WebhooksDeps extends KeysDeps {
  readonly datastore: Datastore
  readonly rules: EndpointRules
  readonly testRuns: Pick<TestRuns, 'run'>
}

/** Serves the webhooks of Domains and their deliveries (decisions: Beyond the peers). */
export function createWebhooks({ datastore, rules, testRuns, ...keys }: WebhooksDeps): Handlers<typeof webhooks> {
  const db = () => datastore.pool('interactive')

  async function shown(ctx: RequestContext, id: string) {
    const webhook = await store.findWebhook(db(), id, new Date(ctx.nowMs))
    if (webhook === undefined) throw problem('webhook_not_found')
    return toAnswer(webhook)
  }

  return {
    async CreateWebhook(ctx, { id: domainId, body }) {
      requireUrl(body.url, rules)
      const now = new Date(ctx.nowMs)
      const webhook = newWebhook(body, { id: keys.ids.next(), domainId, createdBy: ctx.caller.subject, now })
      const { id } = webhook
      const secret = await ctx.change(async (change) => {
        const count = await store.countInDomain(change.db, domainId)
        if (count === undefined) throw problem('domain_not_found')
        ctx.about(referenceOf(id), domainId)
        await store.insertWebhook(change.db, webhook)
        if (count >= WEBHOOKS_MAX) throw problem('webhook_limit_exceeded')
        announce(change, 'WebhookCreated', webhook)
        return giveKey(change.db, webhook, { ...keys, now })
      })
      ctx.header('Location', `/v1/webhooks/${id}`)
      return { ...(await shown(ctx, id)), ...secret }
    },

    ListWebhooks: (ctx, { id: domainId }) =>
      listPage(ctx, (range) => store.listWebhooks(db(), { domainId, now: new Date(ctx.nowMs) }, range), {
        positionOf: byIdDescending.positionOf,
        toAnswer,
      }),

    async GetWebhook(ctx, { id }) {
      return toAnswer(await admitTo(ctx, db(), id))
    },

    async PatchWebhook(ctx, { id, body }) {
      await admitTo(ctx, db(), id)
      if (body.url !== undefined) requireUrl(body.url, rules)
      await ctx.change((change) => changeWebhook(change, id, { patch: body, now: new Date(ctx.nowMs) }))
      return shown(ctx, id)
    },

    async DeleteWebhook(ctx, { id }) {
      const webhook = await admitTo(ctx, db(), id)
      await ctx.change(async (change) => {
        if (!(await store.deleteWebhook(change.db, id))) throw problem('webhook_not_found')
        announce(change, 'WebhookDeleted', webhook)
      })
    },

    async RotateWebhookSecret(ctx, { id }) {
      await admitTo(ctx, db(), id)
      const secret = await ctx.change(async (change) => {
        const webhook = await store.lockWebhook(change.db, id)
        if (webhook === undefined) throw problem('webhook_not_found')
        const now = new Date(ctx.nowMs)
        await store.updateWebhook(change.db, id, { updated_at: now })
        announce(change, 'WebhookUpdated', webhook)
        return giveKey(change.db, webhook, { ...keys, now })
      })
      return { ...(await shown(ctx, id)), ...secret }
    },

    async TestWebhook(ctx, { id }) {
      const deliveryId = await testRuns.run(ctx, await admitTo(ctx, db(), id))
      const delivery = await findDelivery(db(), { webhookId: id, id: deliveryId })
      if (delivery === undefined) throw problem('webhook_not_found')
      return toDelivery(delivery)
    },

    async ListWebhookDeliveries(ctx, { id: webhookId, state }) {
      await admitTo(ctx, db(), webhookId)
      return listPage(ctx, (range) => listDeliveries(db(), { webhookId, state }, range), {
        positionOf: byIdDescending.positionOf,
        toAnswer: toDelivery,
      })
    },

    async RedeliverWebhookDelivery(ctx, { id: webhookId, delivery_id: id }) {
      await admitTo(ctx, db(), webhookId)
      return ctx.change(async (change) => {
        const webhook = await store.lockWebhook(change.db, webhookId)
        if (webhook === undefined) throw problem('webhook_not_found')
        if (webhook.disabled_at !== null) throw problem('webhook_disabled')
        const delivery = await requeue(change.db, { webhookId, id }, new Date(ctx.nowMs))
        if (delivery === undefined) throw problem('webhook_delivery_not_found')
        await store.updateWebhook(change.db, webhookId, { resume_at: null })
        return toDelivery(delivery)
      })
    },
  }
}

type Body = Input<(typeof webhooks)['operations']['CreateWebhook']>['body']

interface Creation {
  readonly id: string
  readonly domainId: string
  readonly createdBy: string
  readonly now: Date
}

function newWebhook(body: Body, { id, domainId, createdBy, now }: Creation): store.NewWebhook {
  return {
    id,
    domain_id: domainId,
    url: body.url,
    events: sortedEvents(body.events),
    for_seconds: body.for_seconds ?? FOR_SECONDS.fallback,
    description: body.description ?? null,
    scheme: body.scheme ?? 'v1',
    created_by: createdBy,
    created_at: now,
  }
}
