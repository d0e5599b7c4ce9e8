import type { Db } from '../ports/datastore.ts'
import type { EndpointAddress } from './endpoint-address.ts'

/** An endpoint as a node has reported it. */
export interface EndpointReport extends EndpointAddress {
  readonly nodeId: string
  readonly natType: string
  /** The node's own instant of the observation, ms. */
  readonly reportedAtMs: number
}

/** What is known of a node's endpoint. */
export interface StoredEndpoint extends EndpointAddress {
  readonly reportedAtMs: number
  readonly isStale: boolean
}

/** How long an endpoint holds in the node's Domain, ms; undefined when the node is gone. */
export async function findTtl(db: Db, nodeId: string): Promise<number | undefined> {
  const domain = await db
    .selectFrom('nodes')
    .innerJoin('domains', 'domains.id', 'nodes.domain_id')
    .select('domains.endpoint_ttl_seconds')
    .where('nodes.id', '=', nodeId)
    .executeTakeFirst()
  return domain && domain.endpoint_ttl_seconds * 1000
}

/** Takes a newer report of the endpoint that is known and fresh, which nobody has to be told of. False when it is none. */
export async function refreshEndpoint(tx: Db, report: EndpointReport): Promise<boolean> {
  const reportedAt = new Date(report.reportedAtMs)
  const { numUpdatedRows } = await tx
    .updateTable('node_endpoints')
    .set({ nat_type: report.natType, last_endpoint_reported_at: reportedAt })
    .where('node_id', '=', report.nodeId)
    .where('last_endpoint', '=', report.host)
    .where('last_endpoint_port', '=', report.port)
    .where('last_endpoint_stale_at', 'is', null)
    .where('last_endpoint_reported_at', '<', reportedAt)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Reads and locks what is known of a node's endpoint. */
export async function lockEndpoint(tx: Db, nodeId: string): Promise<StoredEndpoint | undefined> {
  const row = await tx
    .selectFrom('node_endpoints')
    .select(['last_endpoint', 'last_endpoint_port', 'last_endpoint_reported_at', 'last_endpoint_stale_at'])
    .where('node_id', '=', nodeId)
    .forUpdate()
    .executeTakeFirst()
  return (
    row && {
      host: row.last_endpoint,
      port: row.last_endpoint_port,
      reportedAtMs: row.last_endpoint_reported_at.getTime(),
      isStale: row.last_endpoint_stale_at !== null,
    }
  )
}

/** Stores a node's endpoint as fresh, whatever was known before. */
export async function storeEndpoint(tx: Db, domainId: string, report: EndpointReport): Promise<void> {
  const facts = {
    last_endpoint: report.host,
    last_endpoint_port: report.port,
    nat_type: report.natType,
    last_endpoint_reported_at: new Date(report.reportedAtMs),
    last_endpoint_stale_at: null,
  }
  await tx
    .insertInto('node_endpoints')
    .values({ node_id: report.nodeId, domain_id: domainId, ...facts })
    .onConflict((conflict) => conflict.column('node_id').doUpdateSet(facts))
    .execute()
}
