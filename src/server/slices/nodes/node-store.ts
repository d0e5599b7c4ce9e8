import { sql, type Nullable, type SelectQueryBuilder } from 'kysely'
import { labelFilterCondition, type FilteredColumns } from '../../labels/label-filter-sql.ts'
import type { LabelFilter } from '../../labels/label-filter.ts'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import { byId } from '../../sql/keyset.ts'
import type { Tables } from '../../ports/tables/tables.ts'
import { acceptedWindow, type ReachabilityState } from '../../sql/reachability.ts'
import { conflictsAs } from '../../sql/unique.ts'

/** A node with the facts of its last heartbeat. */
export interface StoredNode {
  readonly id: string
  readonly domain_id: string
  readonly project_id: string | null
  readonly name: string
  readonly kind: string
  readonly public_key: Buffer
  readonly mesh_address: string
  /** Integer nanoseconds since the epoch, in decimal. */
  readonly psk_issued_at: string
  readonly labels: Record<string, string>
  readonly ephemeral: boolean
  readonly created_at: Date
  readonly updated_at: Date
  readonly accepted_at: Date | null
  readonly healthy_since: Date | null
  readonly binary_version: string | null
  readonly rotation_pending: boolean
  /** Null while none is known, or the last one is stale. */
  readonly endpoint: string | null
  readonly endpoint_port: number | null
}

/** Which nodes a list shows. */
export interface NodeFilter {
  readonly domainId: string | undefined
  readonly name: string | undefined
  readonly reachability: ReachabilityState | undefined
  readonly kind: string | undefined
  readonly labels: LabelFilter | undefined
  /** The instant for which reachability is computed. */
  readonly nowMs: number
}

type Joined = SelectQueryBuilder<Aliased, 'n' | 'h' | 'e', object>
type Aliased = Tables & {
  n: Tables['nodes']
  h: Tables['node_heartbeats']
  /** Absent where the node has no fresh endpoint. */
  e: Nullable<Tables['node_endpoints']>
}

const LABELLED: FilteredColumns = {
  kind: sql`'node'`,
  id: sql.ref('n.id'),
  domainId: sql.ref('n.domain_id'),
  projectId: sql.ref('n.project_id'),
  labels: sql.ref('n.labels'),
}

/** Reads nodes by id. */
export function readNodes(db: Db, filter: NodeFilter, range: PageRange): Promise<StoredNode[]> {
  let query = joined(db)
  if (filter.domainId !== undefined) query = query.where('n.domain_id', '=', filter.domainId)
  if (filter.name !== undefined) query = query.where('n.name', '=', filter.name)
  if (filter.kind !== undefined) query = query.where('n.kind', '=', filter.kind)
  if (filter.labels !== undefined) query = query.where(labelFilterCondition(filter.labels, LABELLED))
  if (filter.reachability !== undefined) query = inState(query, filter.reachability, filter.nowMs)
  return byId.page(selectNode(query), range).execute()
}

/** A node with the mesh CIDR of its Domain. */
export interface PlacedNode extends StoredNode {
  readonly mesh_cidr: string
}

export function findNode(db: Db, id: string): Promise<PlacedNode | undefined> {
  return selectNode(joined(db).where('n.id', '=', id))
    .innerJoin('domains as d', 'd.id', 'n.domain_id')
    .select('d.mesh_cidr')
    .executeTakeFirst()
}

/** The members of a node's row that people may change; absent members stay. */
export interface NodeChange {
  readonly name?: string | undefined
  readonly project_id?: string | null | undefined
}

/** @throws Problem `node_name_conflict`. */
export async function updateNode(tx: Db, id: string, change: NodeChange & { readonly atMs: number }): Promise<void> {
  const { name, project_id, atMs } = change
  const write = tx
    .updateTable('nodes')
    .set({
      ...(name !== undefined && { name }),
      ...(project_id !== undefined && { project_id }),
      updated_at: new Date(atMs),
    })
    .where('id', '=', id)
    .execute()
  await conflictsAs(write, { nodes_domain_name_key: 'node_name_conflict' })
}

/** A node as it was, with what decided which peers saw it. */
export interface RemovedNode {
  readonly domain_id: string
  readonly name: string
  readonly mesh_address: string
  readonly groups: number[]
  readonly policy_ids: string[]
}

/** Deletes a node with its keys, heartbeats, re-enrolment tokens and entries as a host; undefined when there is none. */
export function removeNode(tx: Db, id: string): Promise<RemovedNode | undefined> {
  return tx
    .deleteFrom('nodes')
    .where('id', '=', id)
    .returning(['domain_id', 'name', 'mesh_address', 'policy_groups as groups'])
    .returning(
      // The rows that go with the node are still there for the statement that deletes it.
      sql<string[]>`array(select policy_id::text from policy_matches where node_id = nodes.id order by policy_id)`.as(
        'policy_ids',
      ),
    )
    .executeTakeFirst()
}

/** The Domain of a node, which never changes; undefined when there is no such node. */
export async function domainOfNode(db: Db, id: string): Promise<string | undefined> {
  const node = await db.selectFrom('nodes').select('domain_id').where('id', '=', id).executeTakeFirst()
  return node?.domain_id
}

/** The members of a node that a change is compared with. */
export interface NodePlace {
  readonly domain_id: string
  readonly project_id: string | null
  readonly name: string
}

/**
 * Locks a node's row against new references, so that no role is written under a Project that the node
 * is leaving; undefined when there is no such node.
 */
export function lockNodePlace(tx: Db, id: string): Promise<NodePlace | undefined> {
  return tx
    .selectFrom('nodes')
    .select(['domain_id', 'project_id', 'name'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

/** Ephemeral nodes without a heartbeat since that moment, by id. */
export function silentEphemerals(db: Db, since: Date, limit: number): Promise<{ id: string; domain_id: string }[]> {
  return joined(db)
    .where('n.ephemeral', '=', true)
    .where((on) => on(on.fn.coalesce('h.accepted_at', 'h.created_at'), '<=', since))
    .select(['n.id', 'n.domain_id'])
    .orderBy('n.id')
    .limit(limit)
    .execute()
}

/** Checks that a node still has no heartbeat since that moment, and blocks its heartbeats until the transaction ends. */
export async function isSilent(tx: Db, id: string, since: Date): Promise<boolean> {
  const row = await tx
    .selectFrom('node_heartbeats')
    .select(['accepted_at', 'created_at'])
    .where('node_id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  return row !== undefined && (row.accepted_at ?? row.created_at) <= since
}

function joined(db: Db): Joined {
  return db
    .selectFrom('nodes as n')
    .innerJoin('node_heartbeats as h', 'h.node_id', 'n.id')
    .leftJoin('node_endpoints as e', (on) =>
      on.onRef('e.node_id', '=', 'n.id').on('e.last_endpoint_stale_at', 'is', null),
    )
}

function selectNode(query: Joined): SelectQueryBuilder<Aliased, 'n' | 'h' | 'e', StoredNode> {
  return query.select([
    'n.id',
    'n.domain_id',
    'n.project_id',
    'n.name',
    'n.kind',
    'n.public_key',
    'n.mesh_address',
    'n.psk_issued_at',
    'n.labels',
    'n.ephemeral',
    'n.created_at',
    'n.updated_at',
    'h.accepted_at',
    'h.healthy_since',
    'h.binary_version',
    'h.rotation_pending',
    'e.last_endpoint as endpoint',
    'e.last_endpoint_port as endpoint_port',
  ])
}

function inState(query: Joined, state: ReachabilityState, nowMs: number): Joined {
  const window = acceptedWindow(state, nowMs)
  if (window === 'never') return query.where('h.accepted_at', 'is', null)
  const { afterMs, untilMs } = window
  let bounded = query.where('h.accepted_at', 'is not', null)
  if (afterMs !== undefined) bounded = bounded.where('h.accepted_at', '>', new Date(afterMs))
  if (untilMs !== undefined) bounded = bounded.where('h.accepted_at', '<=', new Date(untilMs))
  return bounded
}
