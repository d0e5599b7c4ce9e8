import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { syncDirectory } from '../../ports/secret-file.ts'
import { BackupRefusal } from '../../ports/snapshot.ts'

/** The file beside a backup in which it is written. */
export interface PartialFile {
  readonly path: string
  /** @throws BackupRefusal where the file of that name is no longer this one: another container has the same process ids. */
  assertOwn(): Promise<void>
  /** Gives it its final name, on disk before it resolves. @throws BackupRefusal as `assertOwn`, or the system's error */
  publish(): Promise<void>
  /** Removes it, unless another one has its name. */
  remove(): Promise<void>
}

const PARTIAL = /^\.(\d+)\.partial$/

/**
 * Makes the file, empty and with mode 0600. What a killed process left of the same backup is removed.
 *
 * @param replaces whether a file of the final name is replaced
 * @throws BackupRefusal where there is one, or no directory for it; the system's error where none can be made there
 */
export async function reservePartial(path: string, replaces: boolean): Promise<PartialFile> {
  const directory = dirname(path)
  if (!existsSync(directory))
    throw new BackupRefusal(`There is no directory ${directory}: make it, or name another file.`)
  assertFree(path, replaces)
  await removeStale(path)
  const partial = `${path}.${process.pid}.partial`
  // Open until the end: no other file can have its number meanwhile.
  const own = await open(partial, 'wx', 0o600)
  async function assertOwn(): Promise<void> {
    if (!(await hasName(own, partial)))
      throw new BackupRefusal(`Another backup of ${path} was begun, which removed this one: name another file.`)
  }
  return {
    path: partial,
    assertOwn,
    async publish() {
      await assertOwn()
      assertFree(path, replaces)
      await rename(partial, path)
      syncDirectory(directory)
      await own.close()
    },
    async remove() {
      if (await hasName(own, partial)) await rm(partial, { force: true })
      await own.close()
    },
  }
}

async function hasName(file: FileHandle, path: string): Promise<boolean> {
  const { ino, dev } = await file.stat()
  const named = lstatSync(path, { throwIfNoEntry: false })
  return named?.ino === ino && named.dev === dev
}

function assertFree(path: string, replaces: boolean): void {
  if (!replaces && existsSync(path))
    throw new BackupRefusal(`${path} exists already: name another file, or replace it with --force.`)
}

/** Whether the name is that of a partial file of a process that is gone. */
function isStale(name: string, path: string): boolean {
  const start = basename(path)
  const pid = name.startsWith(start) ? PARTIAL.exec(name.slice(start.length))?.[1] : undefined
  return pid !== undefined && (Number(pid) === process.pid || !isAlive(Number(pid)))
}

async function removeStale(path: string): Promise<void> {
  for (const name of readdirSync(dirname(path)))
    if (isStale(name, path)) await rm(join(dirname(path), name), { force: true })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it runs, as another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
