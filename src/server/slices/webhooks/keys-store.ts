import type { Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { WebhookKeyRow } from './tables.ts'

export type KeyRecord = Selectable<WebhookKeyRow>

export async function insertKey(tx: Db, key: KeyRecord): Promise<void> {
  await tx.insertInto('webhook_keys').values(key).execute()
}

/** Deletes the keys that sign beside the newest one, and lets that one sign until the instant. */
export async function retireKeys(tx: Db, webhookId: string, until: Date): Promise<void> {
  await tx.deleteFrom('webhook_keys').where('webhook_id', '=', webhookId).where('retires_at', 'is not', null).execute()
  await tx.updateTable('webhook_keys').set({ retires_at: until }).where('webhook_id', '=', webhookId).execute()
}

/** Reads the keys that sign, the newest first. */
export function readKeys(db: Db, webhookId: string, now: Date): Promise<KeyRecord[]> {
  return db
    .selectFrom('webhook_keys')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .where((key) => key.or([key('retires_at', 'is', null), key('retires_at', '>', now)]))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
}
