import { CompiledQuery, sql } from 'kysely'
import type { Datastore } from '../../ports/datastore.ts'
import type { WriteHeartbeats } from './heartbeat-commit.ts'
import { hintsOf, indexesOf } from './heartbeat-hints.ts'
import type { Heartbeat } from './heartbeat-queue.ts'
import { STALE_AFTER_MS } from '../../sql/reachability.ts'

/** Called with nodes whose heartbeat is committed and whose last announced state is not healthy. */
export type OnBack = (nodeIds: readonly string[]) => void

/** Writes batches of heartbeats: one statement each, and so one commit. */
export function createHeartbeatWriter(datastore: Datastore, onBack: OnBack = () => undefined): WriteHeartbeats {
  return async (batch) => {
    const ids = batch.map(({ nodeId }) => nodeId)
    const { taken, back, reconcile, rotate } = await update(datastore, ids, batch)
    if (back !== null) onBack(indexesOf(back).flatMap((at) => ids[at] ?? []))
    const hints = hintsOf(batch.length, { reconcile, rotate })
    if (taken === batch.length) return hints
    const there = new Set(await existing(datastore, ids))
    return hints.map((each, at) => (there.has(ids[at] ?? '') ? each : undefined))
  }
}

/** How many heartbeats were stored, and the places in the batch of nodes with a hint or a recovery. */
interface Updated {
  readonly taken: number
  /** The last announced state is not healthy. */
  readonly back: string | null
  /** Never pulled its state, or is behind. */
  readonly reconcile: string | null
  /** A key rotation waits for it. */
  readonly rotate: string | null
}

/**
 * Stores a heartbeat only where it is newer than the stored one, which another replica may have written. One row comes
 * back, and parameters without characters to escape are sent as finished array texts: the driver's work on each element
 * would cost this process as much as the rest of a heartbeat. The result has places in the batch, for the same
 * reason. A heartbeat that was not stored gets no hints: a newer one gets them. Rows are locked in the order of the batch, since
 * the connections of this lane join by the index.
 */
async function update(datastore: Datastore, ids: readonly string[], batch: readonly Heartbeat[]): Promise<Updated> {
  const instants = batch.map(({ acceptedAtMs }) => acceptedAtMs)
  const due = batch.map(({ duePeerRevision }) => duePeerRevision)
  const { places, versions, checksums } = buildsOf(batch)
  const values = [
    arrayText(ids),
    arrayText(instants),
    arrayText(places),
    arrayText(due),
    versions,
    arrayText(checksums),
  ]
  const { rows } = await datastore.pool('heartbeats').executeQuery<Updated>(CompiledQuery.raw(UPDATE, values))
  return rows[0] ?? { taken: 0, back: null, reconcile: null, rotate: null }
}

/** Finished text: compiling it for each batch would cost as much as the driver's part. */
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
      select node_id, to_timestamp(ms / 1000::float8) as at, ($5::text[])[build] as version,
        ($6::text[])[build] as checksum, due, place
      from unnest($1::uuid[], $2::bigint[], $3::integer[], $4::bigint[]) with ordinality
        as sent (node_id, ms, build, due, place)
    ) as beat
    where h.node_id = beat.node_id and (h.accepted_at is null or h.accepted_at < beat.at)
    returning beat.place::text, h.announced_state <> 'healthy' as is_back, h.rotation_pending as is_rotating,
      h.pulled_node_revision is null or h.pulled_node_revision < h.node_revision
        or h.pulled_peer_revision < beat.due as is_behind
  )
  select count(*)::integer as taken, string_agg(place, ',') filter (where is_back) as back,
    string_agg(place, ',') filter (where is_behind) as reconcile,
    string_agg(place, ',') filter (where is_rotating) as rotate
  from updated`

/** The builds that run on the nodes of a batch: the distinct builds, and for each heartbeat the place of its build, from 1. */
interface Builds {
  readonly places: readonly number[]
  readonly versions: readonly string[]
  readonly checksums: readonly string[]
}

/** Most nodes of a fleet run one of a few builds: each is sent once. */
function buildsOf(batch: readonly Heartbeat[]): Builds {
  const placeOf = new Map<string, number>()
  const places: number[] = []
  const versions: string[] = []
  const checksums: string[] = []
  let place = 0
  for (const { binaryVersion, checksumHex } of batch) {
    if (binaryVersion !== versions[place - 1] || checksumHex !== checksums[place - 1]) {
      // Checksums have one length, so the concatenation is unambiguous.
      const build = `${checksumHex}${binaryVersion}`
      place = placeOf.get(build) ?? versions.push(binaryVersion)
      if (place > checksums.length) {
        checksums.push(checksumHex)
        placeOf.set(build, place)
      }
    }
    places.push(place)
  }
  return { places, versions, checksums }
}

/** An array in PostgreSQL's text form, of elements that need no quotes. */
function arrayText(elements: readonly (string | number)[]): string {
  return `{${elements.join(',')}}`
}

/** Distinguishes a node that already has a newer heartbeat from a deleted one. */
async function existing(datastore: Datastore, ids: readonly string[]): Promise<string[]> {
  const rows = await datastore
    .pool('heartbeats')
    .selectFrom('node_heartbeats')
    .select('node_id')
    .where('node_id', '=', sql<string>`any(${ids}::uuid[])`)
    .execute()
  return rows.map(({ node_id }) => node_id)
}
