import { sql, type Selectable, type Updateable } from 'kysely'
import type { DeliveryState } from '../../../shared/webhooks/event-types.ts'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import { byIdDescending } from '../../sql/keyset.ts'
import type { WebhookDeliveryRow } from './tables.ts'

export type DeliveryRecord = Selectable<WebhookDeliveryRow>

/** Columns of a delivery to be changed. */
export type DeliveryChange = Updateable<WebhookDeliveryRow>

/** A delivery of a webhook. */
export interface DeliveryKey {
  readonly webhookId: string
  readonly id: string
}

export function findDelivery(db: Db, { webhookId, id }: DeliveryKey): Promise<DeliveryRecord | undefined> {
  return db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Reads the deliveries of a webhook, newest first. */
export function listDeliveries(
  db: Db,
  { webhookId, state }: { readonly webhookId: string; readonly state: DeliveryState | undefined },
  range: PageRange,
): Promise<readonly DeliveryRecord[]> {
  let deliveries = db.selectFrom('webhook_deliveries').selectAll().where('webhook_id', '=', webhookId)
  if (state !== undefined) deliveries = deliveries.where('state', '=', state)
  return byIdDescending.page(deliveries, range).execute()
}

/** Changes the delivery that has this claim; false where it has another one, or is gone. */
export async function updateClaimed(
  tx: Db,
  { id, claim }: { readonly id: string; readonly claim: string },
  set: DeliveryChange,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('webhook_deliveries')
    .set({ ...set, claim: null })
    .where('id', '=', id)
    .where('claim', '=', claim)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Makes the delivery due now, with the table of retries from its start. Undefined where there is none. */
export function requeue(tx: Db, { webhookId, id }: DeliveryKey, now: Date): Promise<DeliveryRecord | undefined> {
  return tx
    .updateTable('webhook_deliveries')
    .set({ state: 'pending', tries: 0, claim: null, next_attempt_at: now, ended_at: null })
    .where('webhook_id', '=', webhookId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

/** What keeps a delivery that is being sent out of a statement. */
const isIdle = (now: Date) => sql<boolean>`(claim is null or next_attempt_at <= ${now})`

/** Drops what waits for a webhook that was disabled. What is being sent is left to its end. */
export async function dropPending(tx: Db, webhookId: string, now: Date): Promise<void> {
  await tx
    .updateTable('webhook_deliveries')
    .set({ state: 'dropped', claim: null, next_attempt_at: null, ended_at: now })
    .where('webhook_id', '=', webhookId)
    .where('state', '=', 'pending')
    .where(isIdle(now))
    .execute()
}

/** Ids of what waits for a webhook beyond so many newer deliveries. */
export async function surplusOf(
  tx: Db,
  { webhookId, max, now }: { readonly webhookId: string; readonly max: number; readonly now: Date },
): Promise<readonly string[]> {
  const rows = await tx
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('webhook_id', '=', webhookId)
    .where('state', '=', 'pending')
    .where(isIdle(now))
    .orderBy('id', 'desc')
    .offset(max)
    .execute()
  return rows.map(({ id }) => id)
}

/** Drops deliveries of a full queue, and counts them. The row of the webhook is locked. */
export async function dropSurplus(
  tx: Db,
  { webhookId, ids, now }: { readonly webhookId: string; readonly ids: readonly string[]; readonly now: Date },
): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('webhook_deliveries')
    .set({ state: 'dropped', claim: null, next_attempt_at: null, ended_at: now })
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .where('state', '=', 'pending')
    .executeTakeFirst()
  await tx
    .updateTable('webhooks')
    .set({ dropped: sql`dropped + ${Number(numUpdatedRows)}` })
    .where('id', '=', webhookId)
    .execute()
}

/** Which ended deliveries are surplus: of webhooks of which one ended since that instant. */
export interface SurplusEnded {
  readonly since: Date
  /** Deliveries of a webhook that stay. */
  readonly kept: number
  /** Rows that are deleted at most. */
  readonly max: number
}

/** Deletes ended deliveries beyond the newest of each webhook. One that is sent again meanwhile stays. */
export async function deleteSurplusEnded(tx: Db, { since, kept, max }: SurplusEnded): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from webhook_deliveries where id in (
      select surplus.id from (select distinct webhook_id from webhook_deliveries where ended_at >= ${since}) as lately
      cross join lateral (
        select id from webhook_deliveries
        where webhook_id = lately.webhook_id and ended_at is not null
        order by ended_at desc offset ${kept} limit ${max}
      ) as surplus
      limit ${max}
    ) and ended_at is not null`.execute(tx)
  return Number(numAffectedRows)
}
