import type { Dirent } from 'node:fs'
import { opendir, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { usageError } from '../../errors/cli-error.ts'

/** Files of a set at most. */
export const FILES_MAX = 100_000
/** Deeper folders are no set. */
const DEPTH_MAX = 8

/**
 * The YAML files below a folder, by their paths with `/`, sorted. Hidden files and folders, and other files, are not looked at.
 *
 * @throws CliError for a folder that cannot be read, a link out of it, and more than 100,000 files.
 */
export async function findFiles(folder: string): Promise<readonly string[]> {
  const root = await rootOf(folder)
  const found: string[] = []
  await visit({ root, found }, root, 0)
  return found.map((path) => relative(root, path).split(sep).join('/')).toSorted()
}

async function rootOf(folder: string): Promise<string> {
  try {
    const root = await realpath(folder)
    if ((await stat(root)).isDirectory()) return root
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
    throw usageError(`${folder} cannot be read (${code})`, 'Write one with: ctl export DIR')
  }
  throw usageError(
    `${folder} is no folder`,
    'Name the folder with all files of the set: what it does not change stays as it is.',
  )
}

interface Visit {
  readonly root: string
  readonly found: string[]
}

async function visit(of: Visit, folder: string, depth: number): Promise<void> {
  if (depth > DEPTH_MAX) throw usageError(`${folder} lies deeper than ${DEPTH_MAX} folders`)
  for await (const entry of await opendir(folder)) {
    if (entry.name.startsWith('.')) continue
    const path = join(folder, entry.name)
    const isFolder = entry.isSymbolicLink() ? await isLinkedFolder(of.root, path) : entry.isDirectory()
    if (isFolder) await visit(of, path, depth + 1)
    else if (/\.ya?ml$/.test(entry.name) && !isSpecial(entry)) of.found.push(path)
    if (of.found.length > FILES_MAX) throw usageError(`${of.root} has more than ${FILES_MAX} files`)
  }
}

/** A pipe, a socket or a device: opening one may wait without an end. */
function isSpecial(entry: Dirent): boolean {
  return !entry.isFile() && !entry.isSymbolicLink()
}

/** A set has no files but those in its folder: what a link shows elsewhere may be a secret. */
async function isLinkedFolder(root: string, path: string): Promise<boolean> {
  const target = await realpath(path).catch(() => undefined)
  if (target === undefined) throw usageError(`${path} is a link to nothing`)
  if (target !== root && !target.startsWith(root + sep)) throw usageError(`${path} is a link out of ${root}`)
  return (await stat(target)).isDirectory()
}
