import type { Db } from '../../ports/datastore.ts'
import type { Capabilities } from './capabilities.ts'

/** Reads what a node reported last; undefined when it has reported nothing. */
export async function findCapabilities(db: Db, nodeId: string): Promise<Capabilities | undefined> {
  const row = await db
    .selectFrom('node_capabilities')
    .select(['binary_version', 'binary_checksum', 'ssh_host_key_fingerprint', 'architecture', 'hooks'])
    .where('node_id', '=', nodeId)
    .executeTakeFirst()
  return (
    row && {
      binary_version: row.binary_version,
      binary_checksum: row.binary_checksum.toString('hex'),
      ssh_host_key_fingerprint: row.ssh_host_key_fingerprint,
      architecture: row.architecture,
      // jsonb keeps the members of an object in an order of its own.
      hooks: row.hooks.map(({ name, checksum }) => ({ name, checksum })),
    }
  )
}

/** Stores what a node reports in place of what it reported before. */
export async function storeCapabilities(tx: Db, nodeId: string, next: Capabilities & { at: Date }): Promise<void> {
  const facts = {
    binary_version: next.binary_version,
    binary_checksum: Buffer.from(next.binary_checksum, 'hex'),
    ssh_host_key_fingerprint: next.ssh_host_key_fingerprint,
    architecture: next.architecture,
    hooks: JSON.stringify(next.hooks),
    updated_at: next.at,
  }
  await tx
    .insertInto('node_capabilities')
    .values({ node_id: nodeId, ...facts })
    .onConflict((conflict) => conflict.column('node_id').doUpdateSet(facts))
    .execute()
}

/** Records that a node reported the same again. */
export async function touchCapabilities(tx: Db, nodeId: string, at: Date): Promise<void> {
  await tx.updateTable('node_capabilities').set({ updated_at: at }).where('node_id', '=', nodeId).execute()
}
