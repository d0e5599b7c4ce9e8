import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'

/** Why a file or a folder is not trusted. The message begins with its path. */
export class UntrustedPath extends Error {
  /** The system's code where it cannot be opened, such as `ENOENT`. */
  readonly code: string | undefined

  constructor(path: string, fault: string, code?: string) {
    super(`${path} ${fault}`)
    this.name = 'UntrustedPath'
    this.code = code
  }
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
/** A FIFO must not keep the opening waiting; it is refused afterwards. */
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
/** Write permission of the group and of others. */
const SHARED_WRITE = 0o022
const ROOT_UID = 0

/**
 * Opens a folder that only root can change, and of which no parent is another's. Each part of the path is opened below the
 * descriptor of the one before it, so that nothing can be exchanged between check and use. Symbolic links are not followed.
 *
 * @param path absolute
 * @throws UntrustedPath
 */
export async function openTrustedFolder(path: string): Promise<FileHandle> {
  let here = await open('/', FOLDER)
  let reached = ''
  try {
    await assertOnlyRootChanges(here, '/')
    for (const name of path.split('/').filter((part) => part !== '')) {
      reached += `/${name}`
      const next = await openBelow(here, { name, flags: FOLDER, path: reached })
      await here.close()
      here = next
      await assertOnlyRootChanges(here, reached)
    }
    return here
  } catch (error) {
    await here.close()
    throw error
  }
}

/** Opens a regular file in a folder that only root can change. Symbolic links are not followed. @throws UntrustedPath */
export async function openTrustedFile(folder: FileHandle, name: string): Promise<FileHandle> {
  const file = await openBelow(folder, { name, flags: FILE, path: name })
  try {
    if (!(await file.stat()).isFile()) throw new UntrustedPath(name, 'is not a regular file')
    await assertOnlyRootChanges(file, name)
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

/** The path of an open file or folder that no rename changes. */
export function pathOf({ fd }: FileHandle): string {
  return `/proc/self/fd/${fd}`
}

interface Below {
  readonly name: string
  readonly flags: number
  /** For messages. */
  readonly path: string
}

const FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ELOOP: 'is a symbolic link, which is not followed',
  ENOTDIR: 'is not a folder, or is a symbolic link, which is not followed',
}

async function openBelow(folder: FileHandle, { name, flags, path }: Below): Promise<FileHandle> {
  if (name === '.' || name === '..') throw new UntrustedPath(path, 'is not a plain path')
  try {
    return await open(`${pathOf(folder)}/${name}`, flags)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new UntrustedPath(path, FAULTS[code] ?? `cannot be opened (${code})`, code)
  }
}

async function assertOnlyRootChanges(handle: FileHandle, path: string): Promise<void> {
  const { uid, mode } = await handle.stat()
  if (uid !== ROOT_UID) throw new UntrustedPath(path, `belongs to the user ${uid}, not to root`)
  if ((mode & SHARED_WRITE) !== 0) throw new UntrustedPath(path, `can be written by others; run: chmod go-w ${path}`)
}
