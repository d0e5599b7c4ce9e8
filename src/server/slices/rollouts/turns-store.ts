import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { Writing } from './nodes-store.ts'
import type { RolloutRecord } from './store.ts'
import type { NodeState } from './tables.ts'
import { healthyAfter, runsRelease } from './watch-store.ts'

/** A node whose turn it may be. */
export interface Candidate {
  readonly nodeId: string
  readonly projectId: string | null
  readonly isGone: boolean
  /** It runs the binary of the release already. */
  readonly isCurrent: boolean
  readonly binaryVersion: string | null
  readonly architecture: string | null
}

/** The nodes of a wave, at an instant. */
export interface WaveAt {
  readonly rollout: Pick<RolloutRecord, 'id' | 'version'>
  readonly wave: number
  readonly now: Date
}

/** A rollout that has ended may have left an upgrade behind that the node has not finished. */
const IS_BUSY = sql`exists (
  select from rollout_nodes as busy where busy.node_id = turn.node_id and busy.state = 'upgrading')`

/**
 * Reads nodes of a wave that wait, in the order of their turns, except for those that go on waiting: nodes that are out of reach and do
 * not run the release, and those that are upgrading for another rollout.
 */
export async function readCandidates(
  tx: Db,
  { rollout: { id, version }, wave, now }: WaveAt,
  max: number,
): Promise<readonly Candidate[]> {
  const { rows } = await sql<{
    node_id: string
    project_id: string | null
    is_gone: boolean
    is_current: boolean
    binary_version: string | null
    architecture: string | null
  }>`
    select turn.node_id, node.project_id, node.id is null as is_gone, seen.is_current,
      heartbeat.binary_version, capability.architecture
    from rollout_nodes as turn
    left join nodes as node on node.id = turn.node_id
    left join node_heartbeats as heartbeat on heartbeat.node_id = turn.node_id
    left join node_capabilities as capability on capability.node_id = turn.node_id
    cross join lateral (select coalesce(${runsRelease(version)}, false) as is_current) as seen
    where turn.rollout_id = ${id} and turn.wave = ${wave} and turn.state = 'pending'
      and (node.id is null or seen.is_current or (heartbeat.accepted_at > ${healthyAfter(now)} and not ${IS_BUSY}))
    order by turn.place limit ${max}`.execute(tx)
  return rows.map((row) => ({
    nodeId: row.node_id,
    projectId: row.project_id,
    isGone: row.is_gone,
    isCurrent: row.is_current,
    binaryVersion: row.binary_version,
    architecture: row.architecture,
  }))
}

/** A new state of a node. */
export interface Taken {
  readonly nodeId: string
  readonly state: NodeState
  readonly reason: string | null
  readonly executionId: string | null
}

export async function writeTaken(tx: Db, taken: readonly Taken[], { rolloutId, at }: Writing): Promise<void> {
  if (taken.length === 0) return
  await sql`
    update rollout_nodes as turn
    set state = taken.state, reason = taken.reason, execution_id = taken.execution_id, updated_at = ${at}
    from unnest(
      ${taken.map(({ nodeId }) => nodeId)}::uuid[], ${taken.map(({ state }) => state)}::text[],
      ${taken.map(({ reason }) => reason)}::text[], ${taken.map(({ executionId }) => executionId)}::uuid[]
    ) as taken (node_id, state, reason, execution_id)
    where turn.rollout_id = ${rolloutId} and turn.node_id = taken.node_id`.execute(tx)
}

/** Gives up the nodes of a wave that are out of reach. Gives how many there were. */
export async function skipUnreachable(tx: Db, { rollout: { id }, wave, now }: WaveAt, reason: string): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update rollout_nodes as turn set state = 'skipped', reason = ${reason}, updated_at = ${now}
    where turn.rollout_id = ${id} and turn.wave = ${wave} and turn.state = 'pending' and not ${IS_BUSY}
      and not exists (
        select from node_heartbeats as heartbeat
        where heartbeat.node_id = turn.node_id and heartbeat.accepted_at > ${healthyAfter(now)})`.execute(tx)
  return Number(numAffectedRows)
}
