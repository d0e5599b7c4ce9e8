import { sql, type Insertable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { Tables } from '../../ports/tables.ts'

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

/** Deletes up to `max` violations that were accepted before that instant, the oldest first. Gives how many. */
export async function deleteAccepted(tx: Db, before: Date, max: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from node_integrity_violations where id in (
      select id from node_integrity_violations where accepted_at < ${before}
      order by accepted_at limit ${max} for update skip locked
    )`.execute(tx)
  return Number(numAffectedRows)
}
