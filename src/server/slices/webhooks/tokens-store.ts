import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'

/** An API token that expires soon, and a webhook that is to be sent that. */
export interface ExpiringToken {
  readonly webhook_id: string
  readonly token_id: string
  readonly name: string
  readonly owner: string
  readonly domain_id: string
  readonly domain_slug: string
  readonly expires_at: Date
}

export interface ExpiringQuery {
  readonly now: Date
  /** How long before their end, in seconds; API tokens that live no longer are left out. */
  readonly aheadSeconds: number
  readonly max: number
}

/** Holds API tokens that expire soon and that no other one replaces, which the webhook was not sent yet. */
export async function holdExpiring(
  tx: Db,
  { now, aheadSeconds, max }: ExpiringQuery,
): Promise<readonly ExpiringToken[]> {
  const { rows } = await sql<ExpiringToken>`
    select w.id as webhook_id, t.id as token_id, t.name, t.domain_id, d.slug as domain_slug, t.expires_at,
      case t.owner_kind when 'user' then 'user:' else 'serviceaccount:' end || t.owner_id as owner
    from api_tokens as t
    join webhooks as w on w.domain_id = t.domain_id
    join domains as d on d.id = t.domain_id
    where not t.hidden and t.expires_at > ${now}
      and t.expires_at <= ${now}::timestamptz + ${aheadSeconds} * interval '1 second'
      and t.revoked_at is null and t.rotated_to is null and t.lifetime_seconds > ${aheadSeconds}
      and w.disabled_at is null and 'token.expiring' = any(w.events)
      and not exists (select from webhook_announced_tokens as m where m.webhook_id = w.id and m.token_id = t.id)
    order by t.expires_at, w.id limit ${max}
    for key share of t, w`.execute(tx)
  return rows
}

/** Marks that webhooks are sent `token.expiring`. */
export async function markAnnounced(tx: Db, tokens: readonly ExpiringToken[]): Promise<void> {
  if (tokens.length === 0) return
  await tx
    .insertInto('webhook_announced_tokens')
    .values(tokens.map(({ webhook_id, token_id }) => ({ webhook_id, token_id })))
    .execute()
}
