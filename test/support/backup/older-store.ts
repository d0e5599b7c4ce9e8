import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { createBackupSchema } from '../../../src/server/adapters/postgres/backup-schema.ts'
import { openPostgres } from '../../../src/server/adapters/postgres/database.ts'
import { openPglite } from '../../../src/server/adapters/pglite/database.ts'
import { readArchive } from '../../../src/server/backup/archive/read-archive.ts'
import type { SchemaLoad, TableColumns } from '../../../src/server/ports/backup-schema.ts'
import type { Datastore, Db } from '../../../src/server/ports/datastore.ts'
import type { Place } from './served.ts'

/** What an older version would have stored. */
export interface OlderStore {
  /** Where it is made; its master key is that of `of`. */
  readonly place: Place
  /** Number of migrations that the older version had. */
  readonly count: number
  /** A place of this version, and a backup of it. */
  readonly of: { readonly place: Place; readonly backup: string }
}

/**
 * Makes a datastore as an older version left it: its tables, with the rows of a backup of this version in the columns
 * that there were then.
 */
export async function makeOlderStore({ place, count, of }: OlderStore): Promise<void> {
  mkdirSync(place.data, { recursive: true, mode: 0o700 })
  copyFileSync(join(of.place.data, 'master.key'), join(place.data, 'master.key'))
  const datastore = await openAt(place)
  try {
    await datastore.transaction('bulk', async (tx) => {
      const load = await createBackupSchema().begin(tx, { count, isOwn: place.url === undefined })
      await fill(tx, load, of.backup)
      const { broken } = await load.finish()
      if (broken.length > 0) throw new Error(`the older store lacks rows: ${JSON.stringify(broken)}`)
    })
  } finally {
    await datastore.close()
  }
}

async function openAt({ data, url }: Place): Promise<Datastore> {
  const warn = (): void => undefined
  return url === undefined ? openPglite({ dataDir: data, warn }) : openPostgres({ url, warn })
}

async function fill(tx: Db, load: SchemaLoad, backup: string): Promise<void> {
  const columnsThen = await readColumns(tx)
  let kept: { readonly table: TableColumns; readonly places: readonly number[] } | undefined
  for await (const part of readArchive(backup)) {
    if (part.kind === 'table') {
      const then = columnsThen.get(part.table.table)
      const places = part.table.columns.flatMap((column, at) => (then?.has(column) ? [at] : []))
      const columns = places.map((at) => part.table.columns[at] ?? '')
      kept = then && { table: { table: part.table.table, columns }, places }
      if (kept !== undefined) await load.beginTable(part.table.table)
    }
    if (part.kind === 'rows' && kept !== undefined) await load.addRows(kept.table, cut(part.bytes, kept.places))
    if (part.kind === 'sequences') {
      const there = await readSequences(tx)
      await load.setSequences(Object.fromEntries(Object.entries(part.states).filter(([name]) => there.has(name))))
    }
  }
}

/** Fields of COPY's text format are separated by tabs; one within a value is escaped. */
function cut(rows: Buffer, places: readonly number[]): Buffer {
  const lines = rows.toString('utf8').split('\n').slice(0, -1)
  const kept = lines.map((line) => {
    const fields = line.split('\t')
    return `${places.map((at) => fields[at]).join('\t')}\n`
  })
  return Buffer.from(kept.join(''))
}

async function readColumns(tx: Db): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const { rows } = await sql<{ table: string; columns: string[] }>`
    select relname::text as "table", array_agg(attname::text) as columns
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and attnum > 0 and not attisdropped
    group by 1`.execute(tx)
  return new Map(rows.map(({ table, columns }) => [table, new Set(columns)]))
}

async function readSequences(tx: Db): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ name: string }>`
    select relname::text as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'S'`.execute(tx)
  return new Set(rows.map(({ name }) => name))
}
