import type { Snapshot } from '../../ports/snapshot.ts'
import type { SequenceStates } from '../archive/format.ts'
import { TABLES_LEFT_OUT } from '../tables.ts'

/** A table of the snapshot. */
export interface SnapshotTable {
  readonly name: string
  readonly columns: readonly string[]
  /** Columns of the primary key; empty where it has none. */
  readonly key: readonly string[]
  /** Pages of 8 KiB of the table itself. */
  readonly pages: number
  /** Bytes of the table with what is stored aside of it. */
  readonly bytes: number
}

const TABLES = `
  select class.relname as name,
    array_agg(attribute.attname::text order by attribute.attnum) as columns,
    coalesce((
      select array_agg(key.attname::text order by part.place)
      from pg_index as index, unnest(index.indkey) with ordinality as part (number, place), pg_attribute as key
      where index.indrelid = class.oid and index.indisprimary and key.attrelid = class.oid and key.attnum = part.number
    ), '{}') as key,
    pg_relation_size(class.oid) / current_setting('block_size')::bigint as pages,
    pg_table_size(class.oid) as bytes
  from pg_class as class
  join pg_attribute as attribute on attribute.attrelid = class.oid
  where class.relnamespace = current_schema()::regnamespace and class.relkind in ('r', 'p')
    and attribute.attnum > 0 and not attribute.attisdropped and attribute.attgenerated = ''
  group by class.oid, class.relname
  order by class.relname collate "C"`

/** The tables that a backup contains, in the order of their names. */
export async function readTables(snapshot: Snapshot): Promise<readonly SnapshotTable[]> {
  const rows = await snapshot.rows(TABLES)
  const tables = rows.map(({ name, columns, key, pages, bytes }) => ({
    name: String(name),
    columns: columns as string[],
    key: key as string[],
    pages: Number(pages),
    bytes: Number(bytes),
  }))
  return tables.filter(({ name }) => !Object.hasOwn(TABLES_LEFT_OUT, name))
}

/** Where every sequence is. They are never behind the rows: a value that is drawn meanwhile only leaves a gap. */
export async function readSequences(snapshot: Snapshot): Promise<SequenceStates> {
  const named = await snapshot.rows(
    `select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'S'
     order by relname collate "C"`,
  )
  const states: SequenceStates = {}
  for (const { name } of named) {
    const [state] = await snapshot.rows(`select last_value::text, is_called from "${String(name)}"`)
    states[String(name)] = { last_value: String(state?.['last_value']), is_called: state?.['is_called'] === true }
  }
  return states
}

/** Names of the applied migrations, in order. */
export async function readMigrations(snapshot: Snapshot): Promise<readonly string[]> {
  const [table] = await snapshot.rows(`select to_regclass('schema_migrations') is not null as is_there`)
  if (table?.['is_there'] !== true) return []
  const rows = await snapshot.rows('select name from schema_migrations order by name')
  return rows.map(({ name }) => String(name))
}

/** The keyring as stored; no rows where nothing is sealed yet. */
export async function readKeyringRows(snapshot: Snapshot): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return snapshot.rows('select key_id, purpose, sealed, created_at, retired_at from keyring order by key_id')
}
