import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'

/** Whether the audit log has a row of this correlation id, or one of the relation in the chain of the Domain since that instant. */
export async function hasCrossingRow(
  db: Db,
  asked: {
    readonly correlationId: string
    readonly domainId: string
    readonly relation: string
    /** Undefined: only the row of the correlation id counts. */
    readonly since: Date | undefined
  },
): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from audit where correlation_id = ${asked.correlationId})
      or exists (
        select from audit
        where domain_id = ${asked.domainId} and relation = ${asked.relation} and relation <> 'authz.check'
          and at >= ${asked.since ?? null}::timestamptz
      ) as found`.execute(db)
  return rows[0]?.found === true
}
