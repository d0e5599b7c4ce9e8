import { lstat, readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { usageError } from '../../errors/cli-error.ts'
import { inParallel } from '../gateway.ts'
import { FILES_MAX, findFiles } from './find-files.ts'
import { KIND_FOLDERS, SCHEMA_FOLDER, SET_FILE, UNFINISHED_FILE } from './layout.ts'
import { PART, writeWhole } from './write-whole.ts'
import { makeFolder } from '../../files/make-folder.ts'

/** A file to write, by its path below the folder. */
export interface TextFile {
  readonly path: string
  readonly text: string
}

/** What became of the files of a folder. */
export interface Written {
  readonly written: number
  readonly unchanged: number
  /** Paths of files whose objects the Domain does not have, removed where that was asked for. */
  readonly extra: readonly string[]
}

/** Files that are written at a time. */
const FILES_AT_ONCE = 32

/** @throws CliError for a folder that holds something else than a set: an export writes many files into it. */
export async function assertSetFolder(folder: string): Promise<void> {
  const entries: readonly string[] = await readdir(folder).catch((cause: unknown) => {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return []
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
    throw usageError(`${folder} cannot be read (${code})`)
  })
  const others = entries.filter((name) => !name.startsWith('.'))
  if (others.length === 0 || others.includes(SET_FILE) || entries.includes(UNFINISHED_FILE)) return
  throw usageError(
    `${folder} holds other files and no ${SET_FILE}`,
    'Name an empty folder, or one that an export has written.',
  )
}

/**
 * Writes the files of a set, each whole or not at all. Files that are as they should be are not touched. A file whose object the Domain
 * does not have may be of an object that is gone, or one that somebody has written and not applied yet: it is removed with `isPruning`
 * alone. Until all are there, a hidden file marks the folder: nothing is applied from it, and an export may be run again.
 *
 * @throws CliError for more files than a set may have, before any is written.
 */
export async function writeFolder(
  folder: string,
  files: readonly TextFile[],
  { isPruning = false }: { readonly isPruning?: boolean } = {},
): Promise<Written> {
  if (files.length > FILES_MAX)
    throw usageError(`The Domain has ${files.length} objects; a set has at most ${FILES_MAX} files`)
  madeFolder(folder)
  // Before anything is made: it refuses links out of the folder, and does not look at hidden ones.
  const present = await findFiles(folder)
  await assertNoLink(join(folder, SCHEMA_FOLDER))
  await writeWhole(join(folder, UNFINISHED_FILE), '')
  await makeFolders(new Set(files.map(({ path }) => dirname(join(folder, path)))))
  const wanted = new Set(files.map(({ path }) => path))
  const extra = present.filter((path) => !wanted.has(path) && KIND_FOLDERS.includes(path.split('/')[0] ?? ''))
  const known = new Set(present)
  const isNew = ({ path }: TextFile): boolean => !path.startsWith('.') && !known.has(path)
  const results = await inParallel(files, (file) => writeFile(folder, file, isNew(file)), FILES_AT_ONCE)
  if (isPruning) await inParallel(extra, (path) => rm(join(folder, path)), FILES_AT_ONCE)
  await rm(join(folder, UNFINISHED_FILE))
  const written = results.filter(Boolean).length
  return { written, unchanged: files.length - written, extra }
}

/** Makes folders, without the parts of files that a killed export has left in them. */
async function makeFolders(folders: ReadonlySet<string>): Promise<void> {
  for (const folder of folders) {
    madeFolder(folder)
    const parts = (await readdir(folder)).filter((name) => PART.test(name))
    await inParallel(parts, (name) => rm(join(folder, name), { force: true }), FILES_AT_ONCE)
  }
}

function madeFolder(path: string): void {
  try {
    makeFolder(path)
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
    throw usageError(`${path} cannot be written (${code})`)
  }
}

async function assertNoLink(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined)
  if (found?.isSymbolicLink() === true) throw usageError(`${path} is a link`, 'Remove it: an export makes the folder.')
}

/** Whether the file was written: not where it has the text already. */
async function writeFile(folder: string, { path, text }: TextFile, isNew: boolean): Promise<boolean> {
  const target = join(folder, path)
  const present = isNew ? undefined : await readFile(target, 'utf8').catch(() => undefined)
  if (present === text) return false
  await writeWhole(target, text)
  return true
}
