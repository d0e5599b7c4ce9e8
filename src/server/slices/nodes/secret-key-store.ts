import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'

/** A node secret key as stored: never the key. */
export interface SecretKey {
  readonly kid: string
  readonly created_at: Date
  readonly retires_at: Date | null
}

/** What a presented key resolves to. */
export interface PresentedKey {
  readonly fingerprint: Buffer
  readonly fingerprint_key_id: string
  readonly first_used_at: Date | null
  readonly retires_at: Date | null
  readonly revoked_at: Date | null
  readonly domain_id: string
  readonly name: string
  /** Whether a key that this one replaced still works. */
  readonly has_elder: boolean
}

export interface NewSecretKey {
  readonly nodeId: string
  readonly kid: string
  readonly fingerprint: Buffer
  readonly fingerprintKeyId: string
  readonly createdAtMs: number
}

/** How long an ended key stays known as revoked, in ms. */
const DEAD_KEY_KEPT_MS = 30 * 24 * 60 * 60 * 1000

/** A key among those of all nodes, in one text. */
export function keyName({ nodeId, kid }: { readonly nodeId: string; readonly kid: string }): string {
  return `${nodeId} ${kid}`
}

/**
 * Finds keys of nodes by their names, with the facts that decide whether they work at `nowMs`. Of the keys of one node the one
 * that ends first is the eldest; the newest has no end.
 */
export async function findKeys(
  db: Db,
  names: readonly string[],
  nowMs: number,
): Promise<ReadonlyMap<string, PresentedKey>> {
  const [nodeIds, kids] = [0, 1].map((part) => names.map((name) => name.split(' ')[part]))
  const { rows } = await sql<PresentedKey & { readonly node_id: string; readonly kid: string }>`
    select k.node_id, k.kid, k.fingerprint, k.fingerprint_key_id, k.first_used_at, k.retires_at, k.revoked_at,
      n.domain_id, n.name,
      exists (
        select from node_secret_keys as elder
        where elder.node_id = k.node_id and elder.kid <> k.kid and elder.revoked_at is null
          and elder.retires_at > ${new Date(nowMs)} and (k.retires_at is null or elder.retires_at < k.retires_at)
      ) as has_elder
    from unnest(${nodeIds}::uuid[], ${kids}::text[]) as asked (node_id, kid)
    join node_secret_keys as k on k.node_id = asked.node_id and k.kid = asked.kid
    join nodes as n on n.id = k.node_id`.execute(db)
  return new Map(rows.map((row) => [keyName({ nodeId: row.node_id, kid: row.kid }), row]))
}

/** The keys that work at `nowMs`, by their end; the newest last. */
export function liveKeys(db: Db, nodeId: string, nowMs: number): Promise<SecretKey[]> {
  return db
    .selectFrom('node_secret_keys')
    .select(['kid', 'created_at', 'retires_at'])
    .where('node_id', '=', nodeId)
    .where('revoked_at', 'is', null)
    .where((on) => on.or([on('retires_at', 'is', null), on('retires_at', '>', new Date(nowMs))]))
    .orderBy('retires_at')
    .orderBy('created_at')
    .orderBy('kid')
    .execute()
}

/** Adds a node's newest key and deletes those that ended long ago. */
export async function addKey(tx: Db, key: NewSecretKey): Promise<void> {
  const deadBefore = new Date(key.createdAtMs - DEAD_KEY_KEPT_MS)
  await tx
    .deleteFrom('node_secret_keys')
    .where('node_id', '=', key.nodeId)
    .where((on) => on.or([on('revoked_at', '<', deadBefore), on('retires_at', '<', deadBefore)]))
    .execute()
  await tx
    .insertInto('node_secret_keys')
    .values({
      node_id: key.nodeId,
      kid: key.kid,
      fingerprint: key.fingerprint,
      fingerprint_key_id: key.fingerprintKeyId,
      created_at: new Date(key.createdAtMs),
    })
    .execute()
}

/** Deletes up to `max` keys of any nodes that ended long ago and are not their node's newest. Resolves with how many. */
export async function forgetDeadKeys(tx: Db, { nowMs, max }: { nowMs: number; max: number }): Promise<number> {
  const deadBefore = new Date(nowMs - DEAD_KEY_KEPT_MS)
  const { numAffectedRows = 0n } = await sql`
    delete from node_secret_keys where (node_id, kid) in (
      select node_id, kid from node_secret_keys as dead
      where (revoked_at < ${deadBefore} or retires_at < ${deadBefore})
        and exists (
          select from node_secret_keys as newer
          where newer.node_id = dead.node_id and newer.created_at > dead.created_at
        )
      order by node_id, kid limit ${max} for update skip locked
    )`.execute(tx)
  return Number(numAffectedRows)
}

/** Sets the end of every working key to that moment, unless it is earlier. */
export async function retireKeys(tx: Db, nodeId: string, atMs: number): Promise<void> {
  const at = new Date(atMs)
  await tx
    .updateTable('node_secret_keys')
    .set({ retires_at: at })
    .where('node_id', '=', nodeId)
    .where('revoked_at', 'is', null)
    .where((on) => on.or([on('retires_at', 'is', null), on('retires_at', '>', at)]))
    .execute()
}

/** Revokes every key of a node. */
export async function revokeKeys(tx: Db, nodeId: string, atMs: number): Promise<void> {
  await tx
    .updateTable('node_secret_keys')
    .set({ revoked_at: new Date(atMs) })
    .where('node_id', '=', nodeId)
    .where('revoked_at', 'is', null)
    .execute()
}

/** Records the first use of a key and ends those that it replaced; false when another caller was first. */
export async function markFirstUse(tx: Db, key: { nodeId: string; kid: string }, atMs: number): Promise<boolean> {
  const used = await tx
    .updateTable('node_secret_keys')
    .set({ first_used_at: new Date(atMs) })
    .where('node_id', '=', key.nodeId)
    .where('kid', '=', key.kid)
    .where('first_used_at', 'is', null)
    .returning('retires_at')
    .executeTakeFirst()
  if (used === undefined) return false
  const { retires_at: end } = used
  let elders = tx
    .updateTable('node_secret_keys')
    .set({ retires_at: new Date(atMs) })
    .where('node_id', '=', key.nodeId)
    .where('retires_at', '>', new Date(atMs))
  if (end !== null) elders = elders.where('retires_at', '<', end)
  await elders.execute()
  return true
}
