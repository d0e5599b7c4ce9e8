import { sql, type Selectable, type Updateable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import { byIdDescending } from '../../sql/keyset.ts'
import { conflictsAs } from '../../sql/unique.ts'
import type { WebhookRow } from './tables.ts'

export type WebhookRecord = Selectable<WebhookRow>

/** Columns of a webhook to be changed. */
export type WebhookChange = Updateable<WebhookRow>

/** A webhook with what the API shows of its keys and its queue. */
export interface ShownWebhook extends WebhookRecord {
  readonly public_key: string | null
  /** Until when the key before the newest one signs; null: it does not. */
  readonly both_keys_until: Date | null
  readonly pending: number
}

const TAKEN = { webhooks_url_key: 'webhook_already_exists' } as const

const PUBLIC_KEY = sql<string | null>`(
  select public_key from webhook_keys as k where k.webhook_id = webhooks.id and k.retires_at is null)`
const PENDING = sql<number>`(
  select count(*)::int from webhook_deliveries as d where d.webhook_id = webhooks.id and d.state = 'pending')`

function shown(db: Db, now: Date) {
  const until = sql<Date | null>`(
    select max(retires_at) from webhook_keys as k where k.webhook_id = webhooks.id and k.retires_at > ${now})`
  return db
    .selectFrom('webhooks')
    .selectAll()
    .select([PUBLIC_KEY.as('public_key'), until.as('both_keys_until'), PENDING.as('pending')])
}

/** Reads a webhook with what is shown of it; undefined where there is none. */
export function findWebhook(db: Db, id: string, now: Date): Promise<ShownWebhook | undefined> {
  return shown(db, now).where('id', '=', id).executeTakeFirst()
}

/** Reads the webhooks of a Domain, newest first. */
export function listWebhooks(
  db: Db,
  { domainId, now }: { readonly domainId: string; readonly now: Date },
  range: PageRange,
): Promise<readonly ShownWebhook[]> {
  return byIdDescending.page(shown(db, now).where('domain_id', '=', domainId), range).execute()
}

/** Keeps others from changing the webhook until the transaction ends; undefined where there is none. */
export function lockWebhook(tx: Db, id: string): Promise<WebhookRecord | undefined> {
  return tx.selectFrom('webhooks').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst()
}

/** Locks the Domain, so that only one webhook is added to it at a time, and counts its webhooks; undefined where it is gone. */
export async function countInDomain(tx: Db, domainId: string): Promise<number | undefined> {
  const domain = await tx
    .selectFrom('domains')
    .select('id')
    .where('id', '=', domainId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (domain === undefined) return undefined
  const { count } = await tx
    .selectFrom('webhooks')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('domain_id', '=', domainId)
    .executeTakeFirstOrThrow()
  return count
}

export type NewWebhook = Pick<
  WebhookRecord,
  'id' | 'domain_id' | 'url' | 'events' | 'for_seconds' | 'description' | 'scheme' | 'created_by' | 'created_at'
>

/** @throws Problem `webhook_already_exists` */
export async function insertWebhook(tx: Db, webhook: NewWebhook): Promise<void> {
  const write = tx
    .insertInto('webhooks')
    .values({ ...webhook, updated_at: webhook.created_at })
    .execute()
  await conflictsAs(write, TAKEN)
}

/** @throws Problem `webhook_already_exists` */
export async function updateWebhook(tx: Db, id: string, set: WebhookChange): Promise<void> {
  await conflictsAs(tx.updateTable('webhooks').set(set).where('id', '=', id).execute(), TAKEN)
}

/** Deletes the webhook with all that belongs to it; false where there is none. */
export async function deleteWebhook(tx: Db, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('webhooks').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}

/** Columns of a webhook to which nothing is sent any more. */
export function disabled(reason: NonNullable<WebhookRecord['disabled_reason']>, now: Date): WebhookChange {
  return { disabled_at: now, disabled_reason: reason, resume_at: null, updated_at: now }
}

/** Columns of a webhook whose endpoint has not failed since its last success. */
export const UNFAILED = { failing_since: null, last_failed_at: null, failures: 0, resume_at: null } as const

/** Columns of a webhook without failures to which messages are sent. */
export function enabled(now: Date): WebhookChange {
  return { ...UNFAILED, disabled_at: null, disabled_reason: null, updated_at: now }
}
