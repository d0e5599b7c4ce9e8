import { readdir, stat } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { usageError } from '../../errors/cli-error.ts'
import { globPattern } from './glob.ts'

/** Validation files in a directory; a schema file is not one, since it says nothing to hold. */
const VALIDATION_FILE = /\.(?:yaml|yml|zaml)$/
const MAGIC = /[*?[{]/

const FILES_MAX = 10_000

/**
 * The files that references mean, each once, in their order and then by name: a file, `-` for stdin, a directory (its
 * YAML files and those below, without hidden ones and `node_modules`), or a pattern that the shell left alone.
 * @throws CliError `usage` for a directory or pattern without files. A file that does not exist is left to the reader.
 */
export async function policyFiles(cwd: string, references: readonly string[]): Promise<readonly string[]> {
  const files = new Set<string>()
  for (const reference of references) {
    const found = reference === '-' ? ['-'] : await filesOf(cwd, reference)
    if (found.length === 0) throw usageError(`${reference} has no validation files`, 'They end in .yaml or .yml.')
    for (const file of found) files.add(file)
    if (files.size > FILES_MAX) throw usageError(`there are more than ${FILES_MAX} files`, 'Name fewer of them.')
  }
  return [...files]
}

async function filesOf(cwd: string, reference: string): Promise<readonly string[]> {
  const kind = await kindOf(resolve(cwd, reference))
  if (kind === 'directory') {
    const below = await filesBelow(resolve(cwd, reference))
    return below.filter((file) => VALIDATION_FILE.test(file)).map((file) => join(reference, file))
  }
  if (kind === 'file' || !MAGIC.test(reference)) return [reference]
  const base = reference.slice(0, reference.slice(0, reference.search(MAGIC)).lastIndexOf('/') + 1)
  const pattern = globPattern(reference.slice(base.length))
  const below = await filesBelow(resolve(cwd, base))
  return below.filter((file) => pattern.test(file)).map((file) => `${base}${file}`)
}

async function kindOf(path: string): Promise<'directory' | 'file' | undefined> {
  const found = await stat(path).catch(() => undefined)
  return found === undefined ? undefined : found.isDirectory() ? 'directory' : 'file'
}

/** Relative to the directory, in the order of names. None where it cannot be read. */
async function filesBelow(directory: string): Promise<readonly string[]> {
  const files: string[] = []
  const waiting = [directory]
  for (let next = waiting.pop(); next !== undefined && files.length <= FILES_MAX; next = waiting.pop()) {
    for (const entry of await readdir(next, { withFileTypes: true }).catch(() => [])) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
      const path = join(next, entry.name)
      if (entry.isDirectory()) waiting.push(path)
      else files.push(relative(directory, path))
    }
  }
  return files.toSorted()
}
