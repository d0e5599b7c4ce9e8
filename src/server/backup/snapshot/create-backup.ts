import { dirname } from 'node:path'
import type { Clock } from '../../ports/clock.ts'
import { assertRoom } from '../../ports/free-space.ts'
import { BackupRefusal, type OpenSnapshot, type Snapshot } from '../../ports/snapshot.ts'
import { BACKUP_FORMAT, ENTRY, type BackupHead, type SealedSecrets } from '../archive/format.ts'
import { sealSecrets } from '../archive/seal-secrets.ts'
import { createArchiveWriter, type ArchiveWriter } from '../archive/write-archive.ts'
import { reservePartial, type PartialFile } from './partial-file.ts'
import { readKeyringRows, readMigrations, readSequences, readTables, type SnapshotTable } from './read-catalog.ts'
import { readPieces } from './row-slices.ts'

/** The master key, as far as a backup is concerned. */
export interface BackupKeys {
  /** Id of the key that wraps these rows of the keyring; null where there are none. */
  fingerprint(keyring: readonly Readonly<Record<string, unknown>>[]): string | null
  /** What is lost with the host. @throws BootError where the key of these rows is missing */
  secrets(keyring: readonly Readonly<Record<string, unknown>>[]): SealedSecrets
}

export interface BackupDeps {
  readonly openSnapshot: OpenSnapshot
  readonly clock: Clock
  readonly keys: BackupKeys
  readonly productVersion: string
  readonly store: BackupHead['store']
  readonly server: BackupHead['server']
  /** Names of the migrations of this version, in order. */
  readonly migrations: readonly string[]
}

/** How far a backup is. */
export type BackupProgress =
  | { readonly stage: 'copying'; readonly bytes: number; readonly ofBytes: number }
  | { readonly stage: 'writing'; readonly rows: number; readonly bytes: number }

export interface BackupOrder {
  /** Absolute. */
  readonly path: string
  /** Whether an existing file is replaced. */
  readonly replaces: boolean
  /** Encrypts the master key, which is in the backup then. */
  readonly passphrase?: string | undefined
  /** Ends it early: nothing is left then. */
  readonly signal: AbortSignal
  readonly onProgress?: ((progress: BackupProgress) => void) | undefined
}

/** A finished backup. */
export interface MadeBackup {
  readonly path: string
  readonly bytes: number
  readonly tables: number
  readonly rows: number
  readonly hasMasterKey: boolean
}

/** Compressed bytes between two looks at the free space. */
const LOOK_BYTES = 32 * 1024 * 1024
const ROOM_ADVICE = 'name a file on another disk'

/**
 * Makes a backup while the datastore takes writes. The file has its name only once all of it is on the disk.
 *
 * @throws BackupRefusal, DatastoreError, or the system's error of the file; nothing is left of it then.
 */
export function createBackups(deps: BackupDeps): (order: BackupOrder) => Promise<MadeBackup> {
  // A partial file has the id of its process in its name: two backups of one process would have the same one.
  const underWay = new Set<string>()
  return async (order) => {
    const { path } = order
    if (underWay.has(path))
      throw new BackupRefusal(`The backup ${path} is being made: wait for it to end, or name another file.`)
    underWay.add(path)
    try {
      return await makeBackup(deps, order)
    } finally {
      underWay.delete(path)
    }
  }
}

async function makeBackup(deps: BackupDeps, order: BackupOrder): Promise<MadeBackup> {
  const partial = await reservePartial(order.path, order.replaces)
  try {
    const snapshot = await openFor(deps, order)
    const made = await writeAndClose(partial, { ...deps, ...order, snapshot })
    order.signal.throwIfAborted()
    await partial.publish()
    return made
  } catch (error) {
    await partial.remove()
    order.signal.throwIfAborted()
    throw error
  }
}

function openFor({ openSnapshot }: BackupDeps, { signal, onProgress }: BackupOrder): Promise<Snapshot> {
  const onCopied = (bytes: number, ofBytes: number): void => onProgress?.({ stage: 'copying', bytes, ofBytes })
  return openSnapshot({ signal, onCopied })
}

async function writeAndClose(partial: PartialFile, writing: Writing): Promise<MadeBackup> {
  try {
    // The copy of the datastore may have taken long.
    await partial.assertOwn()
    return await writeInto(partial.path, writing)
  } finally {
    await writing.snapshot.close()
  }
}

type Writing = BackupDeps & BackupOrder & { readonly snapshot: Snapshot }

async function writeInto(path: string, writing: Writing): Promise<MadeBackup> {
  const { snapshot, clock, passphrase } = writing
  const createdAt = new Date(clock.now())
  const keyring = await keyringOf(writing)
  const head = JSON.stringify(await headOf(writing, createdAt, keyring))
  const archive = await createArchiveWriter(path, createdAt)
  try {
    await archive.add(ENTRY.head, head)
    const tables = await readTables(snapshot)
    const rows = await writeTables(archive, tables, writing)
    await archive.add(ENTRY.sequences, JSON.stringify(await readSequences(snapshot)))
    if (passphrase !== undefined)
      await archive.add(
        ENTRY.masterKey,
        JSON.stringify(await sealSecrets(writing.keys.secrets(keyring), passphrase, head)),
      )
    const bytes = await archive.finish()
    return { path: writing.path, bytes, tables: tables.length, rows, hasMasterKey: passphrase !== undefined }
  } catch (error) {
    await archive.abandon()
    throw error
  }
}

type KeyringRows = readonly Readonly<Record<string, unknown>>[]

/** @throws BackupRefusal where the schema is none of this version, or of a newer one. */
async function keyringOf({ snapshot, migrations }: Writing): Promise<KeyringRows> {
  const applied = await readMigrations(snapshot)
  const unknown = applied.find((name, index) => migrations[index] !== name)
  if (applied.length === 0) throw new BackupRefusal('The datastore has no tables yet: start a server on it once.')
  if (unknown !== undefined)
    throw new BackupRefusal(`The datastore has the schema of another version (migration ${unknown}): use that version.`)
  return readKeyringRows(snapshot)
}

async function headOf(
  { snapshot, productVersion, store, server, keys, passphrase }: Writing,
  createdAt: Date,
  keyring: KeyringRows,
): Promise<BackupHead> {
  const schema = [...(await readMigrations(snapshot))]
  return {
    format: BACKUP_FORMAT,
    product_version: productVersion,
    schema_version: schema.at(-1) ?? '',
    schema,
    store,
    created_at: createdAt.toISOString(),
    server,
    master_key: { fingerprint: keys.fingerprint(keyring), included: passphrase !== undefined },
  }
}

async function writeTables(
  archive: ArchiveWriter,
  tables: readonly SnapshotTable[],
  { snapshot, path, signal, onProgress }: Writing,
): Promise<number> {
  let rows = 0
  let lookedAt = -LOOK_BYTES
  for (const table of tables) {
    await archive.beginTable({ table: table.name, columns: [...table.columns] })
    for await (const piece of readPieces(snapshot, table)) {
      signal.throwIfAborted()
      if (archive.bytesWritten() - lookedAt >= LOOK_BYTES) {
        await assertRoom(dirname(path), 0, ROOM_ADVICE)
        lookedAt = archive.bytesWritten()
      }
      await archive.addRows(piece.chunks, piece.rows)
      rows += piece.rows
      onProgress?.({ stage: 'writing', rows, bytes: archive.bytesWritten() })
    }
  }
  return rows
}
