import { CompiledQuery, sql } from 'kysely'
import type { Datastore } from '../../ports/datastore.ts'
import type { WriteHeartbeats } from './heartbeat-commit.ts'
import { hintsOf, indexesOf } from './heartbeat-hints.ts'
import type { Heartbeat } from './heartbeat-queue.ts'
import { STALE_AFTER_MS } from '../../sql/reachability.ts'

/** Hears of nodes whose heartbeat is committed and that were last announced as anything but healthy. */
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

/** How many heartbeats were taken, and the places in the batch of those nodes of which there is something to say. */
interface Updated {
  readonly taken: number
  /** Announced as anything but healthy. */
  readonly back: string | null
  /** Never pulled its state, or is behind. */
  readonly reconcile: string | null
  /** A key rotation waits for it. */
  readonly rotate: string | null
}

/**
 * Takes a heartbeat only where it is newer than the stored one, which another replica may have written. One row comes
 * back, and the parameters that hold nothing to escape go as finished array texts: the driver's work on each element
 * would cost this process as much as the rest of a heartbeat's way. What comes back are places in the batch, for the same
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

/** What runs on the nodes of a batch: the different builds, and for each heartbeat the place of its own, from 1. */
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
      // Checksums are of one length: the two cannot be taken apart in another way.
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
