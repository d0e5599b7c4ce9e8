import { sql, type Selectable } from 'kysely'
import type { Db } from '../ports/datastore.ts'
import type { SecretIntentRow } from '../ports/tables/secrets.ts'

export type Intent = Selectable<SecretIntentRow>

/** Locks the put of an owner, if there is one. */
export function lockPut(tx: Db, owner: string): Promise<Intent | undefined> {
  return tx
    .selectFrom('secret_intents')
    .selectAll()
    .where('owner', '=', owner)
    .where('kind', '=', 'put')
    .forUpdate()
    .executeTakeFirst()
}

/** Inserts a put whose base is not known yet. Gives whether the owner had none. The index is inferred from a literal only. */
export async function insertPut(tx: Db, intent: Pick<Intent, 'id' | 'owner' | 'path' | 'due_at'>): Promise<boolean> {
  const inserted = await tx
    .insertInto('secret_intents')
    .values({ ...intent, kind: 'put', version: 0 })
    .onConflict((conflict) =>
      conflict
        .column('owner')
        .where(sql<boolean>`kind = 'put'`)
        .doNothing(),
    )
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

export async function setBase(tx: Db, id: string, version: number): Promise<void> {
  await tx.updateTable('secret_intents').set({ version }).where('id', '=', id).execute()
}

export async function insertDestructions(
  tx: Db,
  intents: readonly Pick<Intent, 'id' | 'owner' | 'path' | 'version' | 'due_at'>[],
): Promise<void> {
  if (intents.length === 0) return
  const rows = intents.map((intent) => ({ ...intent, kind: 'destroy' as const }))
  await tx.insertInto('secret_intents').values(rows).execute()
}

/** Turns a put into the destruction of its path, at the same time. */
export async function turnIntoDestruction(tx: Db, id: string): Promise<void> {
  await tx.updateTable('secret_intents').set({ kind: 'destroy', version: null }).where('id', '=', id).execute()
}

/** Deletes an intent. Gives whether it was there. */
export async function deleteIntent(tx: Db, id: string): Promise<boolean> {
  const deleted = await tx.deleteFrom('secret_intents').where('id', '=', id).returning('id').executeTakeFirst()
  return deleted !== undefined
}

/** Marks an intent whose writer gave it up, with the time at which it may be ended. */
export async function abandon(tx: Db, id: string, due_at?: Date): Promise<void> {
  const set = { is_abandoned: true, ...(due_at !== undefined && { due_at }) }
  await tx.updateTable('secret_intents').set(set).where('id', '=', id).execute()
}

/** The intents that are due, the oldest first. */
export function dueIntents(tx: Db, now: Date, max: number): Promise<Intent[]> {
  return tx
    .selectFrom('secret_intents')
    .selectAll()
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .orderBy('id')
    .limit(max)
    .execute()
}

/** Takes over an intent under another id, so that its writer can no longer claim it. Gives whether it was there. */
export async function takeOver(
  tx: Db,
  id: string,
  set: Pick<Intent, 'id' | 'due_at'> & { readonly is_abandoned: false },
): Promise<boolean> {
  const taken = await tx.updateTable('secret_intents').set(set).where('id', '=', id).returning('id').executeTakeFirst()
  return taken !== undefined
}
