import { lstat, readlink } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'

const WRITABLE_BY_OTHERS = 0o022
const STICKY = 0o1000
/** As many as the kernel follows (path_resolution(7)). */
const LINKS_MAX = 40

/**
 * Why a file must not be run by root at each start; undefined where it may. Only root may change it, the folders above it, and the
 * symbolic links that lead to it. Links are followed one by one, since one may lead through the folder of another user.
 */
export async function distrustOf(path: string): Promise<string | undefined> {
  const waiting = partsOf(path)
  let here = '/'
  for (let links = 0; links <= LINKS_MAX;) {
    const distrust = await distrustOfPart(here)
    if (distrust !== undefined) return distrust
    const target = await targetOf(here)
    if (target !== undefined) {
      links += 1
      waiting.unshift(...partsOf(target))
      here = isAbsolute(target) ? '/' : dirname(here)
    }
    const next = waiting.shift()
    if (next === undefined) return undefined
    here = join(here, next)
  }
  return `${path} leads through more than ${LINKS_MAX} symbolic links`
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.')
}

/** Where a symbolic link leads; undefined where the path is none. */
async function targetOf(path: string): Promise<string | undefined> {
  return (await lstat(path)).isSymbolicLink() ? readlink(path) : undefined
}

/** The folders above it were looked at before. */
async function distrustOfPart(path: string): Promise<string | undefined> {
  const found = await lstat(path)
  if (found.uid !== 0) return `${path} does not belong to root`
  // A link has no mode of its own, and others cannot replace what root has in a sticky folder.
  const isClosed = found.isSymbolicLink() || (found.mode & STICKY) !== 0
  return (found.mode & WRITABLE_BY_OTHERS) !== 0 && !isClosed ? `${path} can be changed by others than root` : undefined
}
