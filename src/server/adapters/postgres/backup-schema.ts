import { CompiledQuery, sql } from 'kysely'
import type {
  BackupSchema,
  ForeignKeyName,
  SchemaLoad,
  SequenceValues,
  TableColumns,
} from '../../ports/backup-schema.ts'
import { BootError } from '../../ports/boot-error.ts'
import { DatastoreError, type Db } from '../../ports/datastore.ts'
import { codeOf, hasSqlState } from './errors.ts'
import { migrate, migrateWithin, MIGRATIONS } from './migrate.ts'
import type { Migration } from './migration.ts'

/** The schema that these migrations make; another list in tests. */
export function createBackupSchema(migrations: readonly Migration[] = MIGRATIONS): BackupSchema {
  return {
    migrations: migrations.map(({ name }) => name),
    async begin(tx, { count, isOwn }) {
      await makeSchema(tx, migrations.slice(0, count), isOwn)
      return loadInto(tx, { foreignKeys: await openSchema(tx), indexes: await dropIndexes(tx) })
    },
    migrateWithin: (tx) => migrateWithin(tx, migrations),
    migrateTo: (datastore, count) => migrate(datastore, migrations.slice(0, count)),
  }
}

/** What is made again once all rows are there. */
interface Dropped {
  readonly foreignKeys: readonly ForeignKey[]
  /** Statements that make indexes. */
  readonly indexes: readonly string[]
}

function loadInto(tx: Db, { foreignKeys, indexes }: Dropped): SchemaLoad {
  return {
    beginTable: (table) => emptyTable(tx, table),
    addRows: (table, rows) => copyRows(tx, table, rows),
    setSequences: (values) => setSequences(tx, values),
    async finish() {
      for (const statement of indexes) await sql.raw(statement).execute(tx)
      const broken: ForeignKey[] = []
      for (const key of foreignKeys) if (!(await addForeignKey(tx, key))) broken.push(key)
      await closeSchema(tx)
      return { count: foreignKeys.length, broken }
    },
  }
}

/** A foreign key of the schema, to be made again with its own words. */
interface ForeignKey extends ForeignKeyName {
  readonly definition: string
}

/** Names of the tables of the schema, in their order. */
export async function readTables(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname::text as name from pg_class
    where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace
    order by relname::text collate "C"`.execute(db)
  return rows.map(({ name }) => name)
}

/** Makes the tables of exactly these migrations, as the first ones of an empty database. */
async function makeSchema(tx: Db, migrations: readonly Migration[], isOwn: boolean): Promise<void> {
  // The image of a new embedded datastore has a later schema; it has no row of anyone.
  if (isOwn) await sql.raw('drop schema public cascade; create schema public').execute(tx)
  await migrateWithin(tx, migrations)
}

/**
 * Removes the foreign keys and switches off the triggers of the schema, so that rows may come in any order and cause no
 * further ones. Needs the rights of the tables' owner, no more. Resolves with what `closeSchema` restores.
 */
async function openSchema(tx: Db): Promise<readonly ForeignKey[]> {
  const { rows } = await sql<ForeignKey>`
    select conrelid::regclass::text as "table", conname::text as name, pg_get_constraintdef(oid) as definition
    from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace
    order by 1, 2`.execute(tx)
  for (const { table, name } of rows)
    await sql`alter table ${sql.table(table)} drop constraint ${sql.ref(name)}`.execute(tx)
  await turnTriggers(tx, 'disable')
  return rows
}

/**
 * Drops the indexes that hold no rows apart: to sort a table once takes less time than to keep its indexes up to date row by
 * row. Those of keys and constraints stay, which find rows that do not fit. Resolves with the statements that make them again.
 */
async function dropIndexes(tx: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string; statement: string }>`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as statement
    from pg_index join pg_class on pg_class.oid = indexrelid
    where not indisunique and relkind = 'i' and relnamespace = current_schema()::regnamespace
      and not exists (select from pg_constraint where conindid = indexrelid)
    order by 1`.execute(tx)
  for (const { name } of rows) await sql`drop index ${sql.raw(name)}`.execute(tx)
  return rows.map(({ statement }) => statement)
}

/** Makes a foreign key again. Resolves with whether every row has what it refers to; the key is missing where not. */
async function addForeignKey(tx: Db, { table, name, definition }: ForeignKey): Promise<boolean> {
  await sql`savepoint foreign_key`.execute(tx)
  try {
    await sql`alter table ${sql.table(table)} add constraint ${sql.ref(name)} ${sql.raw(definition)}`.execute(tx)
    await sql`release savepoint foreign_key`.execute(tx)
    return true
  } catch (error) {
    if (!hasSqlState(error, '23503')) throw error
    await sql`rollback to savepoint foreign_key`.execute(tx)
    return false
  }
}

/** Switches the triggers on again, and has the planner know the new rows. */
async function closeSchema(tx: Db): Promise<void> {
  await turnTriggers(tx, 'enable')
  await sql`analyze`.execute(tx)
}

async function turnTriggers(tx: Db, to: 'enable' | 'disable'): Promise<void> {
  const { rows } = await sql<{ table: string }>`
    select distinct tgrelid::regclass::text as "table" from pg_trigger join pg_class on pg_class.oid = tgrelid
    where not tgisinternal and relnamespace = current_schema()::regnamespace order by 1`.execute(tx)
  for (const { table } of rows) await sql`alter table ${sql.table(table)} ${sql.raw(to)} trigger user`.execute(tx)
}

/** Empties a table, whose first rows a migration may have made. @throws BootError where the schema does not have it */
async function emptyTable(tx: Db, table: string): Promise<void> {
  const { rows } = await sql<{ found: boolean }>`select to_regclass(${table}) is not null as found`.execute(tx)
  if (rows[0]?.found !== true)
    throw new BootError(1, `The backup has a table that its schema does not have, ${table}: use another backup.`)
  await sql`truncate ${sql.table(table)}`.execute(tx)
}

/** Failures whose cause is in the rows. */
const ROW_FAILURES: ReadonlySet<string> = new Set(['unique', 'constraint'])

/** Writes rows in COPY's text format. @throws BootError naming the table where they do not fit it. */
async function copyRows(tx: Db, { table, columns }: TableColumns, rows: Buffer): Promise<void> {
  const text = `copy "${table}" (${columns.map((column) => `"${column}"`).join(', ')}) from stdin`
  try {
    await tx.executeQuery(CompiledQuery.raw(text, [rows]))
  } catch (error) {
    if (error instanceof DatastoreError && !ROW_FAILURES.has(error.failure)) throw error
    const code = codeOf(error instanceof DatastoreError ? error.cause : error)
    // The message of the database may quote a value.
    throw new BootError(
      1,
      `The rows of the table ${table} in the backup do not fit the schema that it names (SQLSTATE ${code}): use another backup.`,
      error,
    )
  }
}

/** Sets every sequence that the backup names. @throws BootError naming one that the schema does not have. */
async function setSequences(tx: Db, values: SequenceValues): Promise<void> {
  for (const [name, { last_value: last, is_called: isCalled }] of Object.entries(values)) {
    const { rows } = await sql<{ found: boolean }>`select to_regclass(${name}) is not null as found`.execute(tx)
    if (rows[0]?.found !== true)
      throw new BootError(1, `The backup has a sequence that its schema does not have, ${name}: use another backup.`)
    await sql`select setval(${name}::regclass, ${last}::bigint, ${isCalled}::boolean)`.execute(tx)
  }
}
