import type { Db } from '../ports/datastore.ts'

/**
 * Completes the pending rotation of a node whose row the caller has locked, and takes back the hint that asks the node
 * for it. Gives the rotation's id; undefined where none is pending.
 */
export async function completeRotation(tx: Db, nodeId: string, atMs: number): Promise<string | undefined> {
  const completed = await tx
    .updateTable('key_rotations')
    .set({ state: 'completed', completed_at: new Date(atMs) })
    .where('node_id', '=', nodeId)
    .where('state', '=', 'pending')
    .returning('id')
    .executeTakeFirst()
  if (completed === undefined) return undefined
  await tx.updateTable('node_heartbeats').set({ rotation_pending: false }).where('node_id', '=', nodeId).execute()
  return completed.id
}
