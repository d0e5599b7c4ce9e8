import { sql, type Insertable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { Tables } from '../../ports/tables/tables.ts'

export type NewViolation = Insertable<Tables['node_integrity_violations']>

/** Adds violations, one at least. */
export async function addViolations(tx: Db, violations: readonly NewViolation[]): Promise<void> {
  await tx.insertInto('node_integrity_violations').values(violations).execute()
}

/** Deletes a node's violations beyond its `keptMax` newest. */
export async function keepNewest(tx: Db, nodeId: string, keptMax: number): Promise<void> {
  await sql`
    delete from node_integrity_violations
    where node_id = ${nodeId} and id <= (
      select id from node_integrity_violations where node_id = ${nodeId} order by id desc offset ${keptMax} limit 1
    )`.execute(tx)
}
