import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { usageError } from '../errors/cli-error.ts'

/** Bit of the mode of a file that lets everybody on the machine read it. */
const READ_BY_OTHERS = 0o004

/**
 * The token in the file that a flag or variable names, without blanks around it; complains of one that everybody on this machine
 * can read. Read at once: a file this small waits for no thread. @throws CliError where it is empty,
 * has more than a token, or cannot be read
 */
export function readTokenFile(path: string, origin: string, warn: (line: string) => void): string {
  const { text, isOpenToAll } = read(path, origin)
  if (isOpenToAll) warn(`every user of this machine can read the token in ${path}: chmod 600 ${path}`)
  const token = text.trim()
  if (token === '') throw usageError(`${origin} names ${path}, which is empty`)
  if (/\s/.test(token)) throw usageError(`${origin} names ${path}, which has more in it than one token`)
  return token
}

function read(path: string, origin: string): { readonly text: string; readonly isOpenToAll: boolean } {
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    // Of the file that is open, not of what may lie there by now. Windows knows no such bits, and a pipe is nobody else's.
    const stats = fstatSync(file)
    const isOpenToAll = process.platform !== 'win32' && stats.isFile() && (stats.mode & READ_BY_OTHERS) !== 0
    return { text: readFileSync(file, 'utf8'), isOpenToAll }
  } catch {
    throw usageError(`${origin} names ${path}, which cannot be read`)
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
