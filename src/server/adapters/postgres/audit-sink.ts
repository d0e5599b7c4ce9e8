import { sql } from 'kysely'
import type { AuditSink } from '../../ports/audit-sink.ts'
import type { Datastore } from '../../ports/datastore.ts'

/** Stores audit rows through the worker pool, so that a busy log never takes a connection from those who wait. */
export function createAuditSink(datastore: Datastore): AuditSink {
  return {
    async write(rows) {
      if (rows.length === 0) return
      const column = (of: (row: (typeof rows)[number]) => string | null) => rows.map(of)
      await sql`
        insert into audit (id, at, domain_id, subject, relation, object, outcome, reason, correlation_id, context)
        select * from unnest(
          ${column(({ id }) => id)}::uuid[],
          ${column(({ atMs }) => new Date(atMs).toISOString())}::timestamptz[],
          ${column(({ domainId }) => domainId)}::uuid[],
          ${column(({ subject }) => subject)}::text[],
          ${column(({ relation }) => relation)}::text[],
          ${column(({ object }) => object)}::text[],
          ${column(({ outcome }) => outcome)}::text[],
          ${column(({ reason }) => reason)}::text[],
          ${column(({ correlationId }) => correlationId)}::text[],
          ${column(({ context }) => JSON.stringify(context))}::jsonb[]
        )`.execute(datastore.pool('worker'))
    },
  }
}
