import { sql } from 'kysely'
import type { AuditSink } from '../../ports/audit-sink.ts'
import type { Datastore } from '../../ports/datastore.ts'

type Rows = Parameters<AuditSink['write']>[0]

/**
 * Stores audit rows through the worker pool, so that a busy log never takes a connection from those who wait. One
 * statement for all rows, with one JSON text as its only parameter: a fraction of the cost of ten arrays. Its keys are
 * short because there are as many of them as values.
 */
export function createAuditSink(datastore: Datastore): AuditSink {
  return {
    async write(rows) {
      if (rows.length === 0) return
      await sql`
        insert into audit (id, at, domain_id, subject, relation, object, outcome, reason, correlation_id, context)
        select i, to_timestamp(t / 1000.0), d, s, r, o, u, n, c, x
        from json_to_recordset(${textOf(rows)}::json)
          as entry(i uuid, t bigint, d uuid, s text, r text, o text, u text, n text, c text, x jsonb)
        on conflict (id) do nothing`.execute(datastore.pool('worker'))
    },
  }
}

function textOf(rows: Rows): string {
  const entries = rows.map((row) => ({
    i: row.id,
    t: row.atMs,
    d: row.domainId,
    s: row.subject,
    r: row.relation,
    o: row.object,
    u: row.outcome,
    n: row.reason,
    c: row.correlationId,
    x: row.context,
  }))
  return JSON.stringify(entries)
}
