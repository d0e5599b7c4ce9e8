import { problem } from '../../../shared/problems.ts'
import type { UserAccess } from '../../bridges/bridge-parts.ts'
import type { Bridge } from '../../bridges/find-bridge.ts'
import type { Db } from '../../ports/datastore.ts'
import { conflictsAs, type Conflicts } from '../../sql/unique.ts'
import { ANOTHER_PART, claimPort, forgetSecret, referToSecret, releasePort } from './claims.ts'
import { nameOf, type PartKey, type Revised, type Stored } from './part-kind.ts'

const CONFLICTS: Conflicts = {
  bridge_user_access_pkey: 'slug_conflict',
  bridge_user_access_interface_key: (cause) => problem('interface_name_conflict', ANOTHER_PART, cause),
}

export function listUserAccess(db: Db, resourceId: string): Promise<Stored<UserAccess>[]> {
  return db.selectFrom('bridge_user_access').selectAll().where('resource_id', '=', resourceId).orderBy('slug').execute()
}

export function findUserAccess(db: Db, { resource_id, slug }: PartKey): Promise<Stored<UserAccess> | undefined> {
  return db
    .selectFrom('bridge_user_access')
    .selectAll()
    .where('resource_id', '=', resource_id)
    .where('slug', '=', slug)
    .executeTakeFirst()
}

export async function insertUserAccess(db: Db, row: Stored<UserAccess>): Promise<Stored<UserAccess>> {
  await conflictsAs(db.insertInto('bridge_user_access').values(row).execute(), CONFLICTS)
  return row
}

export function updateUserAccess(
  db: Db,
  { resource_id, slug, ...row }: Revised<UserAccess>,
): Promise<Stored<UserAccess> | undefined> {
  const write = db
    .updateTable('bridge_user_access')
    .set(row)
    .where('resource_id', '=', resource_id)
    .where('slug', '=', slug)
    .returningAll()
    .executeTakeFirst()
  return conflictsAs(write, CONFLICTS)
}

export async function removeUserAccess(db: Db, { resource_id, slug }: PartKey): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('bridge_user_access')
    .where('resource_id', '=', resource_id)
    .where('slug', '=', slug)
    .executeTakeFirst()
  const owner = nameOf('user-access', slug)
  await releasePort(db, resource_id, owner)
  await forgetSecret(db, resource_id, owner)
  return numDeletedRows > 0n
}

export async function claimUserAccess(db: Db, bridge: Bridge, value: UserAccess): Promise<void> {
  const owner = nameOf('user-access', value.slug)
  await claimPort(db, bridge, { owner, port: value.listen_port })
  await referToSecret(db, bridge, { owner, text: value.auth_secret_ref })
}
