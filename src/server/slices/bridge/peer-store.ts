import type { Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { Tables } from '../../ports/tables/tables.ts'
import { conflictsAs } from '../../sql/unique.ts'
import type { PartKey } from './part-kind.ts'

/** A peer of a user-access provider. */
export type StoredPeer = Selectable<Tables['bridge_user_access_peers']>

/** The peers of a provider, by name. */
export function listPeers(db: Db, { resource_id, slug }: PartKey): Promise<StoredPeer[]> {
  return db
    .selectFrom('bridge_user_access_peers')
    .selectAll()
    .where('resource_id', '=', resource_id)
    .where('slug', '=', slug)
    .orderBy('name')
    .execute()
}

/** @throws Problem `peer_name_conflict`, `peer_key_conflict`. */
export async function insertPeer(db: Db, row: StoredPeer): Promise<void> {
  await conflictsAs(db.insertInto('bridge_user_access_peers').values(row).execute(), {
    bridge_user_access_peers_pkey: 'peer_name_conflict',
    bridge_user_access_peers_public_key_key: 'peer_key_conflict',
  })
}

/** Gives false where there is none. */
export async function removePeer(db: Db, { resource_id, slug }: PartKey, name: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('bridge_user_access_peers')
    .where('resource_id', '=', resource_id)
    .where('slug', '=', slug)
    .where('name', '=', name)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
