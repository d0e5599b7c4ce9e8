import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { BootError } from '../../ports/boot-error.ts'
import { blankDatabaseFile, unpackBlankDatabase } from './blank-database.ts'
import { EngineRefusal } from './engine.ts'
import { syncEntry, syncTree } from './sync-tree.ts'

/** Major version of the PostgreSQL inside the engine; its directory format. */
const ENGINE_MAJOR = '18'

/** The engine's own directory, ready to be opened. */
export interface PreparedDirectory {
  readonly engineDirectory: string
  /** Whether it was made just now. */
  readonly isNew: boolean
}

/**
 * Creates the data directory, and those above it, unless they exist. One by one: Node's own recursive function loops
 * forever where a file system answers ENOENT (`/proc`), and hides that one is read-only.
 */
export function makeDataDirectory(dataDir: string): void {
  if (existsSync(dataDir)) return
  makeDataDirectory(dirname(dataDir))
  try {
    mkdirSync(dataDir, { mode: 0o700 })
    syncAbove(dataDir)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    const message = `The data directory ${dataDir} cannot be created: choose another with --data-dir.`
    throw new BootError(1, message, error)
  }
}

/** Its name must be on stable storage before anything in it counts. Where the directory above cannot be read, it cannot be synced. */
function syncAbove(path: string): void {
  try {
    syncEntry(dirname(path))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
  }
}

/** Unpacks a blank database; the marker comes once everything before it is on stable storage. */
function build(dataDir: string, database: string, image: string): void {
  mkdirSync(database, { mode: 0o700 })
  unpackBlankDatabase(image, join(database, 'pgdata'))
  syncTree(database)
  syncEntry(dataDir)
  const marker = join(database, 'ready')
  writeFileSync(marker, `${ENGINE_MAJOR}\n`, { mode: 0o600 })
  syncEntry(marker)
  syncEntry(database)
}

function assertFormat(dataDir: string, engineDirectory: string): void {
  const version = join(engineDirectory, 'PG_VERSION')
  if (!existsSync(version))
    throw new BootError(
      1,
      `The data directory ${dataDir} is damaged: restore a backup, or choose another with --data-dir.`,
    )
  const major = readFileSync(version, 'utf8').trim()
  if (major === ENGINE_MAJOR) return
  throw new BootError(
    1,
    `The data directory ${dataDir} has the format of PostgreSQL ${major}, and this version embeds ${ENGINE_MAJOR}: run the version that made it.`,
  )
}

/**
 * Makes sure that `<dataDir>/database` holds an engine directory that was written whole and synced. The marker `ready` is
 * written last: a directory without it is left from an interrupted first start, has no data, and is built again.
 * @param image what a new one begins as; that of this installation by default.
 * @throws BootError when it was made by another major version of the engine.
 */
export function prepareDirectory(dataDir: string, image?: string): PreparedDirectory {
  const database = join(dataDir, 'database')
  const engineDirectory = join(database, 'pgdata')
  const marker = join(database, 'ready')
  if (existsSync(marker)) {
    assertFormat(dataDir, engineDirectory)
    return { engineDirectory, isNew: false }
  }
  rmSync(database, { recursive: true, force: true })
  try {
    build(dataDir, database, image ?? blankDatabaseFile())
  } catch (error) {
    rmSync(database, { recursive: true, force: true })
    throw error
  }
  return { engineDirectory, isNew: true }
}

/** Message for an operator whose directory cannot be used, by system code. */
const ADVICE: Readonly<Record<string, string>> = {
  EACCES: 'cannot be written: let this account write there, or choose another with --data-dir',
  EPERM: 'cannot be written: let this account write there, or choose another with --data-dir',
  EROFS: 'is on a read-only file system: choose another with --data-dir',
  ENOSPC: 'has no space left: free some, then start again',
  EDQUOT: 'has used up its quota: free some space, then start again',
  EIO: 'is on a disk that fails to read or write: repair the disk, or choose another with --data-dir',
  ENOTDIR: 'is not a directory: choose another with --data-dir',
  EEXIST: 'is not a directory: choose another with --data-dir',
}

/** Emscripten and Node spell the same causes as codes and as sentences. */
function codeIn(error: Error): string | undefined {
  const { code } = error as NodeJS.ErrnoException
  if (code !== undefined) return code
  if (/no space left on device/i.test(error.message)) return 'ENOSPC'
  return /\b(ENOSPC|EDQUOT|EACCES|EROFS|EIO)\b/.exec(error.message)?.[1]
}

/** The sentence for a directory that cannot be used; anything unexpected comes back as it is. */
export function directoryErrorOf(error: unknown, dataDir: string): unknown {
  if (!(error instanceof Error) || error instanceof BootError) return error
  const advice = ADVICE[codeIn(error) ?? '']
  if (advice !== undefined) return new BootError(1, `The data directory ${dataDir} ${advice}.`, error)
  if (!(error instanceof EngineRefusal)) return error
  return new BootError(1, `The embedded datastore in ${dataDir} does not start: ${error.message}.`, error)
}
