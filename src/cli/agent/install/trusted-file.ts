import { lstat, realpath } from 'node:fs/promises'
import { dirname } from 'node:path'

const WRITABLE_BY_OTHERS = 0o022
const STICKY = 0o1000

/**
 * Why a file must not be run by root at each start; undefined where it may. Only root may change it, the folders above it, and the
 * symbolic links that lead to it.
 */
export async function distrustOf(path: string): Promise<string | undefined> {
  return (await distrustOfParts(path)) ?? distrustOfParts(await realpath(path))
}

async function distrustOfParts(path: string): Promise<string | undefined> {
  for (let part = path; ; part = dirname(part)) {
    const found = await lstat(part)
    if (found.uid !== 0) return `${part} does not belong to root`
    // A link has no mode of its own, and others cannot replace what root has in a sticky folder.
    const isClosed = found.isSymbolicLink() || (found.mode & STICKY) !== 0
    if ((found.mode & WRITABLE_BY_OTHERS) !== 0 && !isClosed) return `${part} can be changed by others than root`
    if (part === dirname(part)) return undefined
  }
}
