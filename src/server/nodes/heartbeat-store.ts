import { sql } from 'kysely'
import type { Datastore } from '../ports/datastore.ts'
import type { WriteHeartbeats } from './heartbeat-commit.ts'
import type { Heartbeat } from './heartbeat-queue.ts'
import { STALE_AFTER_MS } from './reachability.ts'

/** Hears of nodes whose heartbeat is committed and that were last announced as anything but healthy. */
export type OnBack = (nodeIds: readonly string[]) => void

/** Writes batches of heartbeats: one statement each, and so one commit. */
export function createHeartbeatWriter(datastore: Datastore, onBack: OnBack = () => undefined): WriteHeartbeats {
  return async (batch) => {
    const rows = await update(datastore, batch)
    const back = rows.filter(({ is_back }) => is_back)
    if (back.length > 0) onBack(back.map(({ node_id }) => node_id))
    const updated = new Set(rows.map(({ node_id }) => node_id))
    if (updated.size === batch.length) return updated
    const others = batch.flatMap(({ nodeId }) => (updated.has(nodeId) ? [] : [nodeId]))
    return new Set([...updated, ...(await existing(datastore, others))])
  }
}

/** Takes a heartbeat only where it is newer than the stored one, which another replica may have written. */
async function update(
  datastore: Datastore,
  batch: readonly Heartbeat[],
): Promise<readonly { node_id: string; is_back: boolean }[]> {
  const ids = batch.map(({ nodeId }) => nodeId)
  const instants = batch.map(({ acceptedAtMs }) => new Date(acceptedAtMs).toISOString())
  const versions = batch.map(({ binaryVersion }) => binaryVersion)
  const checksums = batch.map(({ binaryChecksum }) => `\\x${binaryChecksum.toString('hex')}`)
  const { rows } = await sql<{ node_id: string; is_back: boolean }>`
    update node_heartbeats h
    set accepted_at = beat.at,
      healthy_since = case
        when h.accepted_at > beat.at - ${STALE_AFTER_MS}::integer * interval '1 millisecond' then h.healthy_since
        else beat.at end,
      binary_version = beat.version,
      binary_checksum = beat.checksum
    from unnest(${ids}::uuid[], ${instants}::timestamptz[], ${versions}::text[], ${checksums}::bytea[])
      as beat (node_id, at, version, checksum)
    where h.node_id = beat.node_id and (h.accepted_at is null or h.accepted_at < beat.at)
    returning h.node_id, h.announced_state <> 'healthy' as is_back`.execute(datastore.pool('heartbeats'))
  return rows
}

/** Tells a node that has a newer heartbeat already from one that is gone. */
async function existing(datastore: Datastore, ids: string[]): Promise<string[]> {
  const rows = await datastore
    .pool('heartbeats')
    .selectFrom('node_heartbeats')
    .select('node_id')
    .where('node_id', '=', sql<string>`any(${ids}::uuid[])`)
    .execute()
  return rows.map(({ node_id }) => node_id)
}
