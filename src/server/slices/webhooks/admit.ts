import { problem } from '../../../shared/problems.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Db } from '../../ports/datastore.ts'
import { findWebhook, type ShownWebhook } from './store.ts'
import { referenceOf } from './webhook.ts'

/** The webhook, once the gate of its row admits the caller: an unknown one, and one of strangers, are 404 alike. */
export async function admitTo(ctx: RequestContext, db: Db, id: string): Promise<ShownWebhook> {
  const webhook = await findWebhook(db, id, new Date(ctx.nowMs))
  if (webhook !== undefined) ctx.about(referenceOf(id), webhook.domain_id)
  await ctx.admit(webhook && { domain_id: webhook.domain_id })
  if (webhook === undefined) throw problem('webhook_not_found')
  return webhook
}
