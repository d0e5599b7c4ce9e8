import { sql } from 'kysely'
import { PATHS_KEY } from '../../../shared/mesh/paths-report.ts'
import type { Db } from '../../ports/datastore.ts'

/** A node as a topology needs it. */
export interface PlacedNode {
  readonly id: string
  readonly name: string
  readonly kind: string
  readonly mesh_address: string
  readonly accepted_at: Date | null
  /** Null while none is known, or the last one is stale. */
  readonly endpoint: string | null
  readonly endpoint_port: number | null
  /** The bridge that it prefers; null where it prefers none. */
  readonly bridge_id: string | null
}

/** Whether the Domain exists. */
export async function domainExists(db: Db, domainId: string): Promise<boolean> {
  const row = await db.selectFrom('domains').select('id').where('id', '=', domainId).executeTakeFirst()
  return row !== undefined
}

/** Whether a Domain has more nodes than `max`; reads at most one more. */
export async function hasMoreNodes(db: Db, domainId: string, max: number): Promise<boolean> {
  const { rows } = await sql`select 1 from nodes where domain_id = ${domainId} limit 1 offset ${max}`.execute(db)
  return rows.length > 0
}

/** Whether the Domain has that node. */
export async function isNodeOf(db: Db, domainId: string, nodeId: string): Promise<boolean> {
  const row = await db
    .selectFrom('nodes')
    .select('id')
    .where('id', '=', nodeId)
    .where('domain_id', '=', domainId)
    .executeTakeFirst()
  return row !== undefined
}

/** What nodes of a Domain have reported of the ways to their peers: canonical JSON by node id. One node, or all of them. */
export async function readPathReports(
  db: Db,
  domainId: string,
  nodeId: string | undefined,
): Promise<ReadonlyMap<string, string>> {
  const isWanted = nodeId === undefined ? sql`true` : sql`nodes.id = ${nodeId}`
  const { rows } = await sql<{ id: string; value: string }>`
    select nodes.id, reports.value
    from nodes join node_state_reports as reports on reports.node_id = nodes.id and reports.key = ${PATHS_KEY}
    where nodes.domain_id = ${domainId} and ${isWanted}`.execute(db)
  return new Map(rows.map(({ id, value }) => [id, value]))
}

/** Every node of a Domain, by id. */
export function readPlaced(db: Db, domainId: string): Promise<PlacedNode[]> {
  return db
    .selectFrom('nodes as n')
    .innerJoin('node_heartbeats as h', 'h.node_id', 'n.id')
    .leftJoin('node_endpoints as e', (on) =>
      on.onRef('e.node_id', '=', 'n.id').on('e.last_endpoint_stale_at', 'is', null),
    )
    .leftJoin('relay_preferences as preferred', 'preferred.node_id', 'n.id')
    .select([
      'n.id',
      'n.name',
      'n.kind',
      'n.mesh_address',
      'h.accepted_at',
      'e.last_endpoint as endpoint',
      'e.last_endpoint_port as endpoint_port',
      'preferred.resource_id as bridge_id',
    ])
    .where('n.domain_id', '=', domainId)
    .orderBy('n.id')
    .execute()
}
