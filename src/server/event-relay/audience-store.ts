import { sql } from 'kysely'
import type { Db } from '../ports/datastore.ts'
import type { StoredRules } from './event-template.ts'

/** A node that the selector of a revision, or of the one before it, matches. */
export interface RevisionMatch {
  readonly nodeId: string
  /** False: only the selector of the revision before it matches. */
  readonly isMatched: boolean
}

/** A revision with the nodes that it concerns, ordered by node id. */
export interface MatchedRevision extends StoredRules {
  /** The revision before it. */
  readonly formerId: string | undefined
  readonly matches: readonly RevisionMatch[]
}

/**
 * Reads revisions with the nodes that have every label of its selector or of the one before it. Omits revisions that do
 * not exist.
 */
export async function readRevisions(tx: Db, ids: readonly string[]): Promise<ReadonlyMap<string, MatchedRevision>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<RevisionRow>`
    select revision.id, revision.policy_id, revision.fingerprint, revision.rules, former.id as former_id,
      matched.node_ids, matched.left_ids
    from policy_revisions as revision
    left join lateral (
      select id, selector from policy_revisions
      where policy_id = revision.policy_id and (created_at, id) < (revision.created_at, revision.id)
      order by created_at desc, id desc limit 1
    ) as former on true
    cross join lateral (
      select array_agg(node.id::text order by node.id) filter (where node.labels @> revision.selector) as node_ids,
        array_agg(node.id::text order by node.id) filter (where not node.labels @> revision.selector) as left_ids
      from nodes as node
      where node.domain_id = revision.domain_id
        and (node.labels @> revision.selector or node.labels @> former.selector)
    ) as matched
    where revision.id = any(${ids}::uuid[])`.execute(tx)
  return new Map(rows.map((row) => [row.id, toRevision(row)]))
}

interface RevisionRow {
  readonly id: string
  readonly policy_id: string
  readonly fingerprint: string
  readonly rules: string
  readonly former_id: string | null
  readonly node_ids: readonly string[] | null
  readonly left_ids: readonly string[] | null
}

function toRevision(row: RevisionRow): MatchedRevision {
  const matches = [
    ...(row.node_ids ?? []).map((nodeId) => ({ nodeId, isMatched: true })),
    ...(row.left_ids ?? []).map((nodeId) => ({ nodeId, isMatched: false })),
  ]
  return {
    policyId: row.policy_id,
    revisionId: row.id,
    fingerprint: row.fingerprint,
    rules: row.rules,
    formerId: row.former_id ?? undefined,
    matches: matches.toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1)),
  }
}

/** Returns the ids that are the current revision of a policy. */
export async function revisionsInForce(tx: Db, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await tx.selectFrom('policies').select('revision_id').where('revision_id', 'in', ids).execute()
  return rows.map(({ revision_id }) => revision_id)
}

/** A bridge resource: its configuration, its hosts, and the nodes that received the configuration. */
export interface Bridge {
  /** Canonical JSON; undefined if the bridge does not exist any more. */
  readonly config: string | undefined
  readonly hosts: readonly string[]
  readonly addressees: readonly string[]
}

export async function readBridges(tx: Db, resourceIds: readonly string[]): Promise<ReadonlyMap<string, Bridge>> {
  if (resourceIds.length === 0) return new Map()
  const { rows } = await sql<BridgeRow>`
    select asked.id, config.effective_config as config,
      array(select node_id::text from resource_hosts where resource_id = asked.id order by node_id) as hosts,
      array(select node_id::text from bridge_addressees where resource_id = asked.id order by node_id) as addressees
    from unnest(${resourceIds}::uuid[]) as asked (id)
    left join bridge_configs as config on config.resource_id = asked.id`.execute(tx)
  return new Map(rows.map((row) => [row.id, { ...row, config: row.config ?? undefined }]))
}

interface BridgeRow {
  readonly id: string
  readonly config: string | null
  readonly hosts: readonly string[]
  readonly addressees: readonly string[]
}

/** A node that received the configuration of a bridge resource. */
export interface BridgeAddressee {
  readonly resourceId: string
  readonly nodeId: string
}

/** Records the nodes that receive a configuration and deletes those that receive its end. Skips nodes without a lane. */
export async function updateAddressees(
  tx: Db,
  { added, removed }: { readonly added: readonly BridgeAddressee[]; readonly removed: readonly BridgeAddressee[] },
): Promise<void> {
  if (removed.length > 0)
    await sql`
      delete from bridge_addressees using unnest(
        ${removed.map(({ resourceId }) => resourceId)}::uuid[], ${removed.map(({ nodeId }) => nodeId)}::uuid[]
      ) as removed (resource_id, node_id)
      where bridge_addressees.resource_id = removed.resource_id and bridge_addressees.node_id = removed.node_id`.execute(
      tx,
    )
  if (added.length > 0)
    await sql`
      insert into bridge_addressees (resource_id, node_id)
      select added.resource_id, added.node_id from unnest(
        ${added.map(({ resourceId }) => resourceId)}::uuid[], ${added.map(({ nodeId }) => nodeId)}::uuid[]
      ) as added (resource_id, node_id)
      join node_lanes as lane on lane.node_id = added.node_id
      on conflict do nothing`.execute(tx)
}
