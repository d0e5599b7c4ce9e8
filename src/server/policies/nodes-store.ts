import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../ports/datastore.ts'

/** A node, as much as matching needs of it. */
export interface MatchedNode {
  readonly id: string
  readonly projectId: string | null
  /** The numbers of its groups in PostgreSQL's text form, ascending: `{1,2}`. */
  readonly groups: string
}

/** Some nodes of a Domain: all of them, those of these ids, or the next ones after an id. */
export interface NodeRange {
  readonly domainId: string
  readonly ids?: readonly string[]
  readonly projectId?: string | null
  readonly after?: string | null
  readonly limit?: number
}

const within = ({ domainId, ids, projectId, after }: NodeRange): RawBuilder<unknown> => sql`
  node.domain_id = ${domainId}
    and (${ids === undefined} or node.id = any(${ids ?? []}::uuid[]))
    and (${projectId ?? null}::uuid is null or node.project_id = ${projectId ?? null}::uuid)
    and (${after ?? null}::uuid is null or node.id > ${after ?? null}::uuid)`

/** Reads nodes by id. */
export async function readNodes(tx: Db, range: NodeRange): Promise<readonly MatchedNode[]> {
  const { rows } = await sql<{ id: string; project_id: string | null; groups: string }>`
    select node.id, node.project_id, node.policy_groups::text as groups
    from nodes as node where ${within(range)} order by node.id limit ${range.limit ?? null}`.execute(tx)
  return rows.map(({ id, project_id: projectId, groups }) => ({ id, projectId, groups }))
}

/** The labels of an object of the Domain. */
export interface StoredLabels {
  readonly kind: 'node' | 'project' | 'domain'
  readonly objectId: string
  /** JSON of `[place of the Definition, value, type][]`, by place: equal for equal labels. */
  readonly labels: string
}

/**
 * Reads the labels of some Definitions on nodes, and on the Domain and Projects that they may inherit from. They are one text
 * for each object: few nodes of ten thousand have labels of their own, and only different texts are parsed.
 */
export async function readLabels(
  tx: Db,
  domainId: string,
  { definitionIds, nodeIds }: { readonly definitionIds: readonly string[]; readonly nodeIds?: readonly string[] },
): Promise<readonly StoredLabels[]> {
  if (definitionIds.length === 0) return []
  const isOfNode =
    nodeIds === undefined
      ? sql`label.object_id in (select id from nodes where domain_id = ${domainId})`
      : sql`label.object_id = any(${nodeIds}::uuid[])`
  const { rows } = await sql<{ kind: StoredLabels['kind']; object_id: string; labels: string }>`
    select label.kind, label.object_id, '[' || string_agg(
        '[' || named.place || ',' || to_json(label.value) || ',"' || label.value_type || '"]', ',' order by named.place
      ) || ']' as labels
    from unnest(${definitionIds}::uuid[]) with ordinality as named (id, place)
    join label_assignments as label on label.definition_id = named.id
    where (label.kind = 'node' and ${isOfNode})
      or (label.kind = 'project' and label.object_id in (select id from projects where domain_id = ${domainId}))
      or (label.kind = 'domain' and label.object_id = ${domainId})
    group by label.kind, label.object_id`.execute(tx)
  return rows.map(({ kind, object_id: objectId, labels }) => ({ kind, objectId, labels }))
}

/** Nodes that a policy matches. */
export async function readMatches(tx: Db, policyId: string): Promise<ReadonlySet<string>> {
  const rows = await tx.selectFrom('policy_matches').select('node_id').where('policy_id', '=', policyId).execute()
  return new Set(rows.map(({ node_id }) => node_id))
}

/** A policy and a node that it matches. */
export interface Match {
  readonly policyId: string
  readonly nodeId: string
}

/** Reads the matches of some nodes. */
export async function readMatchesOf(tx: Db, nodeIds: readonly string[]): Promise<readonly Match[]> {
  const { rows } = await sql<{ policy_id: string; node_id: string }>`
    select policy_id, node_id from policy_matches where node_id = any(${nodeIds}::uuid[])`.execute(tx)
  return rows.map(({ policy_id: policyId, node_id: nodeId }) => ({ policyId, nodeId }))
}

/** Adds and removes matches. */
export async function changeMatches(
  tx: Db,
  { added, removed }: { readonly added: readonly Match[]; readonly removed: readonly Match[] },
): Promise<void> {
  const columns = (matches: readonly Match[]) => sql`unnest(
    ${matches.map(({ policyId }) => policyId)}::uuid[], ${matches.map(({ nodeId }) => nodeId)}::uuid[]
  ) as changed (policy_id, node_id)`
  if (removed.length > 0)
    await sql`
      delete from policy_matches as stored using ${columns(removed)}
      where stored.policy_id = changed.policy_id and stored.node_id = changed.node_id`.execute(tx)
  if (added.length > 0)
    await sql`
      insert into policy_matches (policy_id, node_id) select policy_id, node_id from ${columns(added)}
      on conflict do nothing`.execute(tx)
}

/** The groups of a node after a change. */
export interface NodeGroups {
  readonly nodeId: string
  readonly groups: readonly number[]
}

/** Writes the groups of nodes. The caller says that their peers changed (`peersChanged`). */
export async function writeGroups(tx: Db, changed: readonly NodeGroups[]): Promise<void> {
  if (changed.length === 0) return
  await sql`
    update nodes set policy_groups = changed.groups::integer[]
    from unnest(
      ${changed.map(({ nodeId }) => nodeId)}::uuid[], ${changed.map(({ groups }) => groupsText(groups))}::text[]
    ) as changed (id, groups)
    where nodes.id = changed.id`.execute(tx)
}

/** The text form of `MatchedNode.groups`. */
export function groupsText(groups: readonly number[]): string {
  return `{${groups.join(',')}}`
}

/** The numbers of that text. */
export function groupsOf(text: string): number[] {
  return text === '{}' ? [] : text.slice(1, -1).split(',').map(Number)
}
