import { MIGRATIONS } from '../../adapters/postgres/migrate.ts'
import type { Migration } from '../../adapters/postgres/migration.ts'
import type { Db } from '../../ports/datastore.ts'
import type { BackupHead, SealedKey, TableHead } from '../archive/format.ts'
import { readArchive, type BackupPart } from '../archive/read-archive.ts'
import { migrationsOf } from './backup-migrations.ts'
import {
  addForeignKey,
  closeSchema,
  copyRows,
  emptyTable,
  makeSchema,
  openSchema,
  setSequences,
  type ForeignKey,
} from './schema-store.ts'

/** Which backup goes where. */
export interface Loading {
  readonly path: string
  /** Whether the database belongs to this process alone: its schema is then made again. */
  readonly isOwn: boolean
  /** Every migration of this version; another list in tests. */
  readonly known?: readonly Migration[]
}

/** A backup whose rows are in the datastore. */
export interface Loaded {
  readonly head: BackupHead
  /** SHA-256 of the head, which the master key is bound to. */
  readonly headSha256: Buffer
  /** The master key under its passphrase; undefined in a backup without. */
  readonly sealedKey: SealedKey | undefined
  readonly tables: number
  readonly rows: number
  readonly foreignKeys: number
  /** Foreign keys that some row breaks: they are missing. */
  readonly broken: readonly ForeignKey[]
}

/**
 * Loads a backup into an empty database, in the schema of its time, within the caller's transaction. Nothing counts unless
 * that commits. Later migrations are the caller's.
 *
 * @throws BootError in one sentence, for a backup that is damaged or newer, or whose rows do not fit its schema.
 */
export async function loadBackup(tx: Db, { path, isOwn, known = MIGRATIONS }: Loading): Promise<Loaded> {
  const loader = createLoader(tx, { isOwn, known })
  for await (const part of readArchive(path)) await loader.take(part)
  return loader.finish()
}

function createLoader(tx: Db, { isOwn, known }: Required<Omit<Loading, 'path'>>) {
  let begun: { readonly head: BackupHead; readonly sha256: Buffer } | undefined
  let sealedKey: SealedKey | undefined
  let foreignKeys: readonly ForeignKey[] = []
  let table: TableHead | undefined
  let counts = { tables: 0, rows: 0 }

  async function begin(head: BackupHead, sha256: Buffer): Promise<void> {
    begun = { head, sha256 }
    await makeSchema(tx, migrationsOf(head, known), isOwn)
    foreignKeys = await openSchema(tx)
  }

  async function beginTable(next: TableHead): Promise<void> {
    table = next
    await emptyTable(tx, next.table)
  }

  async function take(part: BackupPart): Promise<void> {
    if (part.kind === 'head') return begin(part.head, part.sha256)
    if (part.kind === 'table') return beginTable(part.table)
    if (part.kind === 'rows' && table !== undefined) return copyRows(tx, table, part.bytes)
    if (part.kind === 'sequences') return setSequences(tx, part.states)
    if (part.kind === 'masterKey') sealedKey = part.sealed
    if (part.kind === 'end')
      counts = {
        tables: part.manifest.tables.length,
        rows: part.manifest.tables.reduce((sum, { rows }) => sum + rows, 0),
      }
  }

  async function finish(): Promise<Loaded> {
    // The reader refuses a backup that does not begin with its head.
    if (begun === undefined) throw new Error('a backup ended before it began')
    const broken: ForeignKey[] = []
    for (const key of foreignKeys) if (!(await addForeignKey(tx, key))) broken.push(key)
    await closeSchema(tx)
    const { head, sha256: headSha256 } = begun
    return { head, headSha256, sealedKey, ...counts, foreignKeys: foreignKeys.length, broken }
  }

  return { take, finish }
}
