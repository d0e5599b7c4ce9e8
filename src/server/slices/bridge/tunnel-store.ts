import type { Tunnel } from '../../bridges/bridge-parts.ts'
import type { Bridge } from '../../bridges/find-bridge.ts'
import type { Db } from '../../ports/datastore.ts'
import { conflictsAs } from '../../sql/unique.ts'
import { claimSubnets, forgetSecret, referToSecret } from './claims.ts'
import { nameOf, type PartKey, type Revised, type Stored } from './part-kind.ts'

export function listTunnels(db: Db, resourceId: string): Promise<Stored<Tunnel>[]> {
  return db.selectFrom('bridge_tunnels').selectAll().where('resource_id', '=', resourceId).orderBy('slug').execute()
}

export function findTunnel(db: Db, { resource_id, slug }: PartKey): Promise<Stored<Tunnel> | undefined> {
  return db
    .selectFrom('bridge_tunnels')
    .selectAll()
    .where('resource_id', '=', resource_id)
    .where('slug', '=', slug)
    .executeTakeFirst()
}

export async function insertTunnel(db: Db, row: Stored<Tunnel>): Promise<Stored<Tunnel>> {
  await conflictsAs(db.insertInto('bridge_tunnels').values(row).execute(), { bridge_tunnels_pkey: 'slug_conflict' })
  return row
}

export function updateTunnel(
  db: Db,
  { resource_id, slug, ...row }: Revised<Tunnel>,
): Promise<Stored<Tunnel> | undefined> {
  return db
    .updateTable('bridge_tunnels')
    .set(row)
    .where('resource_id', '=', resource_id)
    .where('slug', '=', slug)
    .returningAll()
    .executeTakeFirst()
}

/** Its subnets go with the row. */
export async function removeTunnel(db: Db, { resource_id, slug }: PartKey): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('bridge_tunnels')
    .where('resource_id', '=', resource_id)
    .where('slug', '=', slug)
    .executeTakeFirst()
  await forgetSecret(db, resource_id, nameOf('site-to-site', slug))
  return numDeletedRows > 0n
}

export async function claimTunnel(db: Db, bridge: Bridge, value: Tunnel): Promise<void> {
  await claimSubnets(db, bridge, { slug: value.slug, subnets: value.allowed_subnets })
  await referToSecret(db, bridge, { owner: nameOf('site-to-site', value.slug), text: value.auth_secret_ref })
}
