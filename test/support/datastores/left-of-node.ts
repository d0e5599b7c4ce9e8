import { sql } from 'kysely'
import type { Db } from '../../../src/server/ports/datastore.ts'

/** The tables in which a row names the node, but for those that are kept on purpose. */
export async function leftOfNode(db: Db, nodeId: string, kept: ReadonlySet<string> = new Set()): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.table_name as name from information_schema.columns c join pg_tables t on t.tablename = c.table_name
    where t.schemaname = 'public' and c.table_schema = 'public' and c.column_name = 'node_id' and c.data_type = 'uuid'
    order by 1`.execute(db)
  const left: string[] = []
  for (const { name } of rows.filter(({ name: table }) => !kept.has(table))) {
    const found = await sql`select 1 from ${sql.table(name)} where node_id = ${nodeId} limit 1`.execute(db)
    if (found.rows.length > 0) left.push(name)
  }
  const node = await db.selectFrom('nodes').select('id').where('id', '=', nodeId).execute()
  return node.length === 0 ? left : ['nodes', ...left]
}
