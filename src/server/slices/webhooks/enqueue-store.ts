import { sql } from 'kysely'
import type { WebhookEvent } from '../../../shared/webhooks/event-types.ts'
import type { Db } from '../../ports/datastore.ts'
import type { WebhookDeliveryRow } from './tables.ts'

/** A webhook that messages may be for. */
export interface Subscriber {
  readonly id: string
  readonly domain_id: string
  readonly domain_slug: string
  readonly events: readonly WebhookEvent[]
  readonly created_at: Date
}

/** Reads the enabled webhooks of the Domains, and keeps them from being deleted until the transaction ends. */
export function holdSubscribers(tx: Db, domainIds: readonly string[]): Promise<readonly Subscriber[]> {
  return tx
    .selectFrom('webhooks')
    .innerJoin('domains', 'domains.id', 'webhooks.domain_id')
    .select(['webhooks.id', 'domain_id', 'domains.slug as domain_slug', 'events', 'webhooks.created_at'])
    .where('domain_id', '=', sql<string>`any(${domainIds}::uuid[])`)
    .where('disabled_at', 'is', null)
    .orderBy('webhooks.id')
    .forKeyShare('webhooks')
    .execute()
}

export type NewDelivery = Pick<WebhookDeliveryRow, 'id' | 'webhook_id' | 'type' | 'event_key' | 'message'> & {
  readonly created_at: Date
}

/** Inserts deliveries that are due at once; one that the webhook has already is left as it is. */
export async function insertDeliveries(tx: Db, deliveries: readonly NewDelivery[]): Promise<void> {
  await tx
    .insertInto('webhook_deliveries')
    .values(deliveries.map((each) => ({ ...each, state: 'pending' as const, next_attempt_at: each.created_at })))
    .onConflict((conflict) => conflict.constraint('webhook_deliveries_event_key').doNothing())
    .execute()
}

/** Names of nodes by id; those that are gone are left out. */
export async function namesOf(db: Db, nodeIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('nodes')
    .select(['id', 'name'])
    .where('id', '=', sql<string>`any(${nodeIds}::uuid[])`)
    .execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** The slug of the webhook's Domain; undefined where the webhook is gone. Keeps the webhook until the transaction ends. */
export async function holdDomainSlug(tx: Db, webhookId: string): Promise<string | undefined> {
  const row = await tx
    .selectFrom('webhooks')
    .innerJoin('domains', 'domains.id', 'webhooks.domain_id')
    .select('domains.slug')
    .where('webhooks.id', '=', webhookId)
    .forKeyShare('webhooks')
    .executeTakeFirst()
  return row?.slug
}
