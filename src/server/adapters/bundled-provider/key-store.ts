import type { Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { SignInTables } from '../../ports/tables/sign-in.ts'

export type KeyRecord = Selectable<SignInTables['provider_keys']>

/** Oldest first. */
export function readKeys(db: Db): Promise<KeyRecord[]> {
  return db.selectFrom('provider_keys').selectAll().orderBy('created_at').orderBy('kid').execute()
}

export async function insertKeys(db: Db, keys: readonly KeyRecord[]): Promise<void> {
  await db.insertInto('provider_keys').values(keys).execute()
}

export async function deleteKeys(db: Db, kids: readonly string[]): Promise<void> {
  await db.deleteFrom('provider_keys').where('kid', 'in', kids).execute()
}
