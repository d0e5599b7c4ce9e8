import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Makes a folder and those around it that are missing, each with the mode (0777 by default) less the umask. A folder that is there stays
 * as it is. It is used in place of the recursive `mkdir` of Node, which never returns where the system refuses a folder with ENOENT, as
 * below `/proc`.
 *
 * @throws the error of the system, such as EACCES, EEXIST for a file of that name, or ENOENT.
 */
export function makeFolder(path: string, mode = 0o777): void {
  const missing: string[] = []
  for (let at = resolve(path); isMissing(at); at = dirname(at)) missing.push(at)
  for (const folder of missing.toReversed()) makeOne(folder, mode)
}

/** Anything but a folder counts as missing: making it gives the error of the system. */
function isMissing(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true
}

function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Another process may have made it in the meantime.
    if (isMissing(path)) throw error
  }
}
