import type { Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import { conflictsAs } from '../../sql/unique.ts'
import type { Tables } from '../../ports/tables/tables.ts'

export type StoredRotation = Selectable<Tables['key_rotations']>

/** A node has one at most. */
export function findPendingRotation(db: Db, nodeId: string): Promise<StoredRotation | undefined> {
  return db
    .selectFrom('key_rotations')
    .selectAll()
    .where('node_id', '=', nodeId)
    .where('state', '=', 'pending')
    .executeTakeFirst()
}

/** The latest rotation. */
export function findLatestRotation(db: Db, nodeId: string): Promise<StoredRotation | undefined> {
  return db
    .selectFrom('key_rotations')
    .selectAll()
    .where('node_id', '=', nodeId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Adds a rotation that waits for its node, whose row the caller has locked, and marks the node so that heartbeat answers carry a hint. */
export async function insertPendingRotation(
  tx: Db,
  asked: Omit<StoredRotation, 'state' | 'completed_at'>,
): Promise<StoredRotation> {
  const rotation = { ...asked, state: 'pending', completed_at: null } as const
  await tx.insertInto('key_rotations').values(rotation).execute()
  const hint = tx.updateTable('node_heartbeats').set({ rotation_pending: true })
  await hint.where('node_id', '=', rotation.node_id).execute()
  return rotation
}

/** The current state of a node secret key. `dead`: retired, or deleted since. */
export async function keyStateOf(
  tx: Db,
  { nodeId, kid, nowMs }: { readonly nodeId: string; readonly kid: string; readonly nowMs: number },
): Promise<'live' | 'revoked' | 'dead'> {
  const key = await tx
    .selectFrom('node_secret_keys')
    .select(['retires_at', 'revoked_at'])
    .where('node_id', '=', nodeId)
    .where('kid', '=', kid)
    .executeTakeFirst()
  if (key === undefined) return 'dead'
  if (key.revoked_at !== null) return 'revoked'
  return key.retires_at === null || key.retires_at.getTime() > nowMs ? 'live' : 'dead'
}

/**
 * Gives a node, whose row the caller has locked, its new keys.
 *
 * @throws Problem `public_key_in_use`.
 */
export async function replaceKeys(
  tx: Db,
  nodeId: string,
  keys: { publicKey: Buffer; pskSealed: Buffer; pskIssuedAtNs: bigint; atMs: number },
): Promise<void> {
  const write = tx
    .updateTable('nodes')
    .set({
      public_key: keys.publicKey,
      psk_sealed: keys.pskSealed,
      psk_issued_at: keys.pskIssuedAtNs.toString(),
      updated_at: new Date(keys.atMs),
    })
    .where('id', '=', nodeId)
    .execute()
  await conflictsAs(write, { nodes_domain_public_key_key: 'public_key_in_use' })
}
