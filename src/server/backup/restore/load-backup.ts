import type { BackupSchema, ForeignKeyName, SchemaLoad } from '../../ports/backup-schema.ts'
import type { Db } from '../../ports/datastore.ts'
import type { BackupHead, SealedKey, TableHead } from '../archive/format.ts'
import { readArchive, type BackupPart } from '../archive/read-archive.ts'
import { countMigrations } from './backup-migrations.ts'

/** Which backup goes where. */
export interface Loading {
  readonly path: string
  /** Whether the database belongs to this process alone: its schema is then made again. */
  readonly isOwn: boolean
  readonly schema: BackupSchema
}

/** A backup whose rows are in the datastore. */
export interface Loaded {
  readonly head: BackupHead
  /** The master key under its passphrase; undefined in a backup without. */
  readonly sealedKey: SealedKey | undefined
  readonly tables: number
  readonly rows: number
  readonly foreignKeys: number
  /** Foreign keys that some row breaks: they are missing. */
  readonly broken: readonly ForeignKeyName[]
}

/**
 * Loads a backup into an empty database, in the schema of its time, within the caller's transaction. Nothing counts unless
 * that commits. Later migrations are the caller's.
 *
 * @throws BootError in one sentence, for a backup that is damaged or newer, or whose rows do not fit its schema.
 */
export async function loadBackup(tx: Db, { path, isOwn, schema }: Loading): Promise<Loaded> {
  const loader = createLoader(tx, { isOwn, schema })
  for await (const part of readArchive(path)) await loader.take(part)
  return loader.finish()
}

function createLoader(tx: Db, { isOwn, schema }: Omit<Loading, 'path'>) {
  let begun: { readonly head: BackupHead; readonly load: SchemaLoad } | undefined
  let sealedKey: SealedKey | undefined
  let table: TableHead | undefined
  let counts = { tables: 0, rows: 0 }

  async function begin(head: BackupHead): Promise<void> {
    const count = countMigrations(head, schema.migrations)
    begun = { head, load: await schema.begin(tx, { count, isOwn }) }
  }

  /** The reader refuses a backup that does not begin with its head. */
  function loadOf(): SchemaLoad {
    if (begun === undefined) throw new Error('a backup has rows before its head')
    return begun.load
  }

  async function beginTable(next: TableHead): Promise<void> {
    table = next
    await loadOf().beginTable(next.table)
  }

  async function take(part: BackupPart): Promise<void> {
    if (part.kind === 'head') return begin(part.head)
    if (part.kind === 'table') return beginTable(part.table)
    if (part.kind === 'rows' && table !== undefined) return loadOf().addRows(table, part.bytes)
    if (part.kind === 'sequences') return loadOf().setSequences(part.states)
    if (part.kind === 'masterKey') sealedKey = part.sealed
    if (part.kind === 'end')
      counts = {
        tables: part.manifest.tables.length,
        rows: part.manifest.tables.reduce((sum, { rows }) => sum + rows, 0),
      }
  }

  async function finish(): Promise<Loaded> {
    if (begun === undefined) throw new Error('a backup ended before it began')
    const { count: foreignKeys, broken } = await begun.load.finish()
    return { head: begun.head, sealedKey, ...counts, foreignKeys, broken }
  }

  return { take, finish }
}
