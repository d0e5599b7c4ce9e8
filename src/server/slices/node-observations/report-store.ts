import type { Db } from '../../ports/datastore.ts'

/** A node's report under a key. */
export interface StateReport {
  readonly nodeId: string
  readonly key: string
  /** Canonical JSON. */
  readonly value: string
  readonly at: Date
}

/** Reads the node's last report under the key; undefined when there is none. */
export async function findReport(db: Db, nodeId: string, key: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('node_state_reports')
    .select('value')
    .where('node_id', '=', nodeId)
    .where('key', '=', key)
    .executeTakeFirst()
  return row?.value
}

export async function countReports(db: Db, nodeId: string): Promise<number> {
  const { count } = await db
    .selectFrom('node_state_reports')
    .select((on) => on.fn.countAll<string>().as('count'))
    .where('node_id', '=', nodeId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Stores a report in place of the last one under its key. */
export async function storeReport(tx: Db, { nodeId, key, value, at }: StateReport): Promise<void> {
  await tx
    .insertInto('node_state_reports')
    .values({ node_id: nodeId, key, value, updated_at: at })
    .onConflict((conflict) => conflict.columns(['node_id', 'key']).doUpdateSet({ value, updated_at: at }))
    .execute()
}

/** Deletes a report; false when there is none. */
export async function deleteReport(tx: Db, nodeId: string, key: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('node_state_reports')
    .where('node_id', '=', nodeId)
    .where('key', '=', key)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
