import { CompiledQuery, sql } from 'kysely'
import type { Datastore } from '../ports/datastore.ts'
import type { WriteHeartbeats } from './heartbeat-commit.ts'
import type { Heartbeat } from './heartbeat-queue.ts'
import { STALE_AFTER_MS } from '../rows/reachability.ts'

/** Hears of nodes whose heartbeat is committed and that were last announced as anything but healthy. */
export type OnBack = (nodeIds: readonly string[]) => void

/** Writes batches of heartbeats: one statement each, and so one commit. */
export function createHeartbeatWriter(datastore: Datastore, onBack: OnBack = () => undefined): WriteHeartbeats {
  return async (batch) => {
    const ids = batch.map(({ nodeId }) => nodeId)
    const { taken, back } = await update(datastore, ids, batch)
    if (back !== null) onBack(back)
    return new Set(taken === batch.length ? ids : await existing(datastore, ids))
  }
}

/** How many heartbeats were taken, and which of their nodes were announced as anything but healthy. */
interface Updated {
  readonly taken: number
  readonly back: readonly string[] | null
}

/**
 * Takes a heartbeat only where it is newer than the stored one, which another replica may have written. One row comes
 * back, and the parameters that hold nothing to escape go as finished array texts: the driver's work on each element
 * would cost this process as much as the rest of a heartbeat's way.
 */
async function update(datastore: Datastore, ids: readonly string[], batch: readonly Heartbeat[]): Promise<Updated> {
  const instants = batch.map(({ acceptedAtMs }) => acceptedAtMs)
  const versions = batch.map(({ binaryVersion }) => binaryVersion)
  const checksums = batch.map(({ checksumHex }) => checksumHex)
  const values = [arrayText(ids), arrayText(instants), versions, arrayText(checksums)]
  const { rows } = await datastore.pool('heartbeats').executeQuery<Updated>(CompiledQuery.raw(UPDATE, values))
  return rows[0] ?? { taken: 0, back: null }
}

/** Finished text: compiling it anew for each batch would cost as much as the driver's part. */
const UPDATE = `
  with updated as (
    update node_heartbeats h
    set accepted_at = beat.at,
      healthy_since = case
        when h.accepted_at > beat.at - ${STALE_AFTER_MS} * interval '1 millisecond' then h.healthy_since
        else beat.at end,
      binary_version = beat.version,
      binary_checksum = decode(beat.checksum, 'hex')
    from (
      select node_id, to_timestamp(ms / 1000.0) as at, version, checksum
      from unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[]) as sent (node_id, ms, version, checksum)
    ) as beat
    where h.node_id = beat.node_id and (h.accepted_at is null or h.accepted_at < beat.at)
    returning h.node_id, h.announced_state <> 'healthy' as is_back
  )
  select count(*)::integer as taken, array_agg(node_id::text) filter (where is_back) as back
  from updated`

/** An array in PostgreSQL's text form, of elements that need no quotes. */
function arrayText(elements: readonly (string | number)[]): string {
  return `{${elements.join(',')}}`
}

/** Tells a node that has a newer heartbeat already from one that is gone. */
async function existing(datastore: Datastore, ids: readonly string[]): Promise<string[]> {
  const rows = await datastore
    .pool('heartbeats')
    .selectFrom('node_heartbeats')
    .select('node_id')
    .where('node_id', '=', sql<string>`any(${ids}::uuid[])`)
    .execute()
  return rows.map(({ node_id }) => node_id)
}
