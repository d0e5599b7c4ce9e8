import { sql } from 'kysely'
import type { Db } from '../../../src/server/ports/datastore.ts'

const TABLES = [
  'policies',
  'policy_revisions',
  'policy_matches',
  'policy_groups',
  'policy_group_uses',
  'selector_definitions',
  'domain_peers',
  'nodes',
  'node_heartbeats',
  'outbox',
] as const

/** Every row that a write of a policy changes, as text: to be compared before and after one that is refused. */
export async function rowsOfPolicies(db: Db): Promise<Readonly<Record<string, readonly string[]>>> {
  const read: [string, string[]][] = []
  for (const table of TABLES) {
    const { rows } = await sql<{ row: string }>`select stored::text as row from ${sql.table(table)} as stored`.execute(
      db,
    )
    read.push([table, rows.map(({ row }) => row).toSorted()])
  }
  return Object.fromEntries(read)
}
