import { lstat, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { usageError } from '../../errors/cli-error.ts'
import { inParallel } from '../gateway.ts'
import { findFiles } from './find-files.ts'
import { KIND_FOLDERS, SCHEMA_FOLDER, SET_FILE } from './layout.ts'
import { writeWhole } from './write-whole.ts'

/** A file to write, by its path below the folder. */
export interface TextFile {
  readonly path: string
  readonly text: string
}

/** What became of the files of a folder. */
export interface Written {
  readonly written: number
  readonly unchanged: number
  /** Paths of files whose objects are gone. */
  readonly removed: readonly string[]
}

/** Files that are written at a time. */
const FILES_AT_ONCE = 32

/** @throws CliError for a folder that holds something else than a set: an export removes files of objects that are gone. */
export async function assertSetFolder(folder: string): Promise<void> {
  const entries = await readdir(folder).catch((cause: unknown) => {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return []
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
    throw usageError(`${folder} cannot be read (${code})`)
  })
  const others = entries.filter((name) => !name.startsWith('.'))
  if (others.length === 0 || others.includes(SET_FILE)) return
  throw usageError(
    `${folder} holds other files and no ${SET_FILE}`,
    'Name an empty folder, or one that an export has written.',
  )
}

/**
 * Writes the files of a set, each whole or not at all, and removes files of objects that are gone. Files that are as they should be are
 * not touched. The file of the set itself is the last one: a folder with it was written to the end.
 */
export async function writeFolder(folder: string, files: readonly TextFile[]): Promise<Written> {
  await mkdir(folder, { recursive: true })
  // Before anything is made: it refuses links out of the folder, and does not look at hidden ones.
  const present = await findFiles(folder)
  await assertNoLink(join(folder, SCHEMA_FOLDER))
  const ownFolders = new Set(files.map(({ path }) => dirname(join(folder, path))))
  for (const path of ownFolders) await mkdir(path, { recursive: true })
  const wanted = new Set(files.map(({ path }) => path))
  const stale = present.filter((path) => !wanted.has(path) && KIND_FOLDERS.includes(path.split('/')[0] ?? ''))
  const isSet = ({ path }: TextFile): boolean => path === SET_FILE
  const before = await inParallel(
    files.filter((file) => !isSet(file)),
    (file) => writeFile(folder, file),
    FILES_AT_ONCE,
  )
  await inParallel(stale, (path) => rm(join(folder, path)), FILES_AT_ONCE)
  const last = await inParallel(files.filter(isSet), (file) => writeFile(folder, file), 1)
  const written = [...before, ...last].filter(Boolean).length
  return { written, unchanged: files.length - written, removed: stale }
}

async function assertNoLink(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined)
  if (found?.isSymbolicLink() === true) throw usageError(`${path} is a link`, 'Remove it: an export makes the folder.')
}

/** Whether the file was written: not where it has the text already. */
async function writeFile(folder: string, { path, text }: TextFile): Promise<boolean> {
  const target = join(folder, path)
  const present = await readFile(target, 'utf8').catch(() => undefined)
  if (present === text) return false
  await writeWhole(target, text)
  return true
}
