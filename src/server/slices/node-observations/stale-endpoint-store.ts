import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'

/** An endpoint that was not reported again in time, as it was found. */
export interface OverdueEndpoint {
  readonly nodeId: string
  readonly domainId: string
  readonly reportedAt: Date
}

/** Lists up to `max` fresh endpoints whose last report is older than their Domain allows, by Domain and node. */
export async function listOverdue(db: Db, nowMs: number, max: number): Promise<OverdueEndpoint[]> {
  const { rows } = await sql<{ node_id: string; domain_id: string; reported_at: Date }>`
    select e.node_id, e.domain_id, e.last_endpoint_reported_at as reported_at
    from domains as d
    join node_endpoints as e on e.domain_id = d.id
      and e.last_endpoint_stale_at is null
      and e.last_endpoint_reported_at
        < ${new Date(nowMs)}::timestamptz - d.endpoint_ttl_seconds * interval '1 second'
    order by e.domain_id, e.node_id
    limit ${max}`.execute(db)
  return rows.map((row) => ({ nodeId: row.node_id, domainId: row.domain_id, reportedAt: row.reported_at }))
}

/**
 * Marks those of one Domain's endpoints stale whose report is still the one that was found: a newer report
 * wins. The caller has locked the nodes' rows; the endpoints are locked in the order of their ids, as reports lock them. Returns the
 * ids of those that are stale now, ascending.
 */
export async function stampStale(tx: Db, found: readonly OverdueEndpoint[], at: Date): Promise<string[]> {
  const nodeIds = found.map(({ nodeId }) => nodeId)
  const reportTimes = found.map(({ reportedAt }) => reportedAt.toISOString())
  const { rows } = await sql<{ node_id: string }>`
    with found as (
      select e.node_id
      from unnest(${nodeIds}::uuid[], ${reportTimes}::timestamptz[]) as listed (node_id, reported_at)
      join node_endpoints as e on e.node_id = listed.node_id
      where e.last_endpoint_reported_at = listed.reported_at and e.last_endpoint_stale_at is null
      order by e.node_id for update of e
    )
    update node_endpoints as e set last_endpoint_stale_at = ${at}
    from found where e.node_id = found.node_id
    returning e.node_id`.execute(tx)
  return rows.map(({ node_id }) => node_id).toSorted()
}
