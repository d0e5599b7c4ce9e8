import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'

/** An endpoint whose newest report, as far as it is noted with it, is too old, as it was found. */
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

/** Marks endpoints stale, whose rows the caller has locked. Candidates end with them. */
export async function markStale(tx: Db, nodeIds: readonly string[], at: Date): Promise<void> {
  await tx
    .updateTable('node_endpoints')
    .set({ last_endpoint_stale_at: at, candidates: [] })
    .where('node_id', '=', sql<string>`any(${nodeIds}::uuid[])`)
    .execute()
}
