import { hopsOf, RELAY_HOPS, relaysOf, type HopRow } from '../sql/relay-hops.ts'
import type { WorldChanges, WorldNode } from './world.ts'

// A world is read in one statement, as one snapshot: a head row, which has no node, and a row for each node. Statements that
// read more of the peers contain these columns too.

/** Of the head row, for the Domain `$1` and changes since the revision `$2`; `d` and `p` are its rows, `p` may be absent. */
export const WORLD_HEAD = `
  coalesce(p.revision, 0) as revision, coalesce(d.peer_visibility, 'all') = 'reachable' as is_filtered,
  coalesce(p.whole_revision, 0) > $2::bigint or exists (
    select from nodes
    where id in (p.relay_node_id, p.second_relay_node_id) and peer_revision > $2::bigint
  ) as is_whole,
  ${RELAY_HOPS} as hops`

/** The rules in force of the Domain `$1`, by policy. */
export const WORLD_RULES = `(
  select json_object_agg(policy.id, revision.rules)
  from policies as policy join policy_revisions as revision on revision.id = policy.revision_id
  where policy.domain_id = $1::uuid
)`

/** The policies that match the node `n`. */
export const WORLD_POLICY_IDS = `
  array(select policy_id::text from policy_matches where node_id = n.id order by policy_id)`

/** Joins the bridge that the node `n` prefers, as `preferred.resource_id`. */
export const WORLD_PREFERENCE = 'left join relay_preferences preferred on preferred.node_id = n.id'

export interface WorldHeadRow {
  readonly revision: string
  readonly is_filtered: boolean
  readonly is_whole: boolean
  readonly hops: readonly HopRow[] | null
  /** Null where the world is not read whole, or there are none. */
  readonly rules: Readonly<Record<string, string>> | null
}

export interface WorldNodeRow {
  readonly id: string
  readonly mesh_address: string
  readonly groups: readonly number[]
  readonly policy_ids: readonly string[]
  readonly bridge_id: string | null
}

/** Undefined where the Domain shows all nodes to all. */
export function worldChangesOf(head: WorldHeadRow, rows: readonly WorldNodeRow[]): WorldChanges | undefined {
  if (!head.is_filtered) return undefined
  return {
    revision: Number(head.revision),
    relays: relaysOf(hopsOf(head.hops)),
    isWhole: head.is_whole,
    rules: new Map(Object.entries(head.rules ?? {})),
    nodes: rows.map(worldNodeOf),
  }
}

function worldNodeOf(row: WorldNodeRow): WorldNode {
  const { id: nodeId, mesh_address: meshAddress, groups, policy_ids: policyIds, bridge_id: bridgeId } = row
  return { nodeId, meshAddress, groups, policyIds, bridgeId }
}
