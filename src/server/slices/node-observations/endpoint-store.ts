import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { EndpointAddress } from './endpoint-address.ts'

/** An endpoint as a node has reported it. */
export interface EndpointReport extends EndpointAddress {
  readonly nodeId: string
  readonly natType: string
  /** The node's own instant of the observation, ms. */
  readonly reportedAtMs: number
}

/** The stored endpoint of a node. */
export interface StoredEndpoint extends EndpointAddress {
  readonly nodeId: string
  readonly reportedAtMs: number
  readonly isStale: boolean
}

/** The endpoint TTL in the Domain of each node, ms; a deleted node has none. */
export async function findTtls(db: Db, nodeIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('nodes')
    .innerJoin('domains', 'domains.id', 'nodes.domain_id')
    .select(['nodes.id', 'domains.endpoint_ttl_seconds'])
    .where('nodes.id', '=', sql<string>`any(${nodeIds}::uuid[])`)
    .execute()
  return new Map(rows.map(({ id, endpoint_ttl_seconds }) => [id, endpoint_ttl_seconds * 1000]))
}

/**
 * Stores those of the reports that only renew an endpoint that is known and fresh: they need no announcement. At
 * most one of each node. Returns the ids of their nodes. Rows are locked in the order of their ids.
 */
export async function refreshEndpoints(db: Db, reports: readonly EndpointReport[]): Promise<Set<string>> {
  const isSame = sql`e.last_endpoint = sent.host and e.last_endpoint_port = sent.port
    and e.last_endpoint_stale_at is null and e.last_endpoint_reported_at < sent.reported_at`
  const { rows } = await sql<{ node_id: string }>`
    with sent as (${sentRows(reports)}),
    held as (
      select e.node_id from node_endpoints as e join sent on sent.node_id = e.node_id where ${isSame}
      order by e.node_id for update of e
    )
    update node_endpoints as e set nat_type = sent.nat_type, last_endpoint_reported_at = sent.reported_at
    from sent join held on held.node_id = sent.node_id
    where e.node_id = sent.node_id and ${isSame}
    returning e.node_id`.execute(db)
  return new Set(rows.map(({ node_id }) => node_id))
}

/**
 * Locks the rows of the nodes that still exist, in the order of their ids, so that their reports are serialized and they
 * are not deleted until the transaction ends. Locked before any row that refers to a node, as a deregistration does. Returns their
 * ids.
 */
export async function lockNodes(tx: Db, nodeIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from nodes where id = any(${nodeIds}::uuid[]) order by id for no key update`.execute(tx)
  return new Set(rows.map(({ id }) => id))
}

/** Reads and locks the stored endpoints of nodes, in the order of their ids. */
export async function lockEndpoints(tx: Db, nodeIds: readonly string[]): Promise<Map<string, StoredEndpoint>> {
  const rows = await tx
    .selectFrom('node_endpoints')
    .select(['node_id', 'last_endpoint', 'last_endpoint_port', 'last_endpoint_reported_at', 'last_endpoint_stale_at'])
    .where('node_id', '=', sql<string>`any(${nodeIds}::uuid[])`)
    .orderBy('node_id')
    .forUpdate()
    .execute()
  const known = rows.map((row) => ({
    nodeId: row.node_id,
    host: row.last_endpoint,
    port: row.last_endpoint_port,
    reportedAtMs: row.last_endpoint_reported_at.getTime(),
    isStale: row.last_endpoint_stale_at !== null,
  }))
  return new Map(known.map((endpoint) => [endpoint.nodeId, endpoint]))
}

/** Stores endpoints of nodes, whose rows the caller has locked, as fresh; replaces the known ones. */
export async function storeEndpoints(tx: Db, reports: readonly EndpointReport[]): Promise<void> {
  await sql`
    insert into node_endpoints
      (node_id, domain_id, last_endpoint, last_endpoint_port, nat_type, last_endpoint_reported_at)
    select n.id, n.domain_id, sent.host, sent.port, sent.nat_type, sent.reported_at
    from (${sentRows(reports)}) as sent join nodes as n on n.id = sent.node_id
    on conflict (node_id) do update set
      last_endpoint = excluded.last_endpoint,
      last_endpoint_port = excluded.last_endpoint_port,
      nat_type = excluded.nat_type,
      last_endpoint_reported_at = excluded.last_endpoint_reported_at,
      last_endpoint_stale_at = null`.execute(tx)
}

/** The reports as rows. */
function sentRows(reports: readonly EndpointReport[]): RawBuilder<unknown> {
  const nodeIds = reports.map(({ nodeId }) => nodeId)
  const hosts = reports.map(({ host }) => host)
  const ports = reports.map(({ port }) => port)
  const natTypes = reports.map(({ natType }) => natType)
  const instants = reports.map(({ reportedAtMs }) => new Date(reportedAtMs).toISOString())
  return sql`
    select node_id, host, port, nat_type, reported_at
    from unnest(${nodeIds}::uuid[], ${hosts}::text[], ${ports}::integer[], ${natTypes}::text[], ${instants}::timestamptz[])
      as given (node_id, host, port, nat_type, reported_at)`
}
