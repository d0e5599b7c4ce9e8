import { constants } from 'node:fs'
import { mkdir, open, readdir, stat, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'

/** A file below a directory. */
export interface FoundFile {
  /** Relative to the directory. */
  readonly path: string
  readonly bytes: number
}

const NO_FILE = 'ENOENT'
const CHUNK_BYTES = 1024 * 1024
/** Written to the disk before more is copied: a burst of it would delay the syncs of others that use the disk. */
const SYNC_BYTES = 32 * 1024 * 1024

/** Lists files, and creates every directory at the other place with mode 0700. A file that goes away meanwhile is left out. */
export async function listTree(from: string, to: string): Promise<readonly FoundFile[]> {
  await mkdir(to, { recursive: true, mode: 0o700 })
  const found: FoundFile[] = []
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const path = join(from, entry.name)
    if (entry.isDirectory()) {
      const below = await listTree(path, join(to, entry.name))
      found.push(...below.map((file) => ({ ...file, path: join(entry.name, file.path) })))
    } else if (entry.isFile()) {
      const bytes = await bytesOf(path)
      if (bytes !== undefined) found.push({ path: entry.name, bytes })
    }
  }
  return found
}

async function bytesOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (codeOf(error) === NO_FILE) return undefined
    throw error
  }
}

/**
 * Copies a file that may be written meanwhile, as far as it reaches, with mode 0600. One that went away is left out.
 *
 * @param onChunk called after each part; what it throws ends the copy
 */
export async function copyFile(
  from: string,
  to: string,
  onChunk: (bytes: number) => void | Promise<void>,
): Promise<void> {
  const source = await openIfThere(from)
  if (source === undefined) return
  try {
    await copyOpened(source, to, onChunk)
  } finally {
    await source.close()
  }
}

async function copyOpened(
  source: FileHandle,
  to: string,
  onChunk: (bytes: number) => void | Promise<void>,
): Promise<void> {
  const target = await open(to, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    let unsynced = 0
    for (;;) {
      const { bytesRead } = await source.read(chunk, 0, chunk.length)
      if (bytesRead === 0) return
      await target.writeFile(chunk.subarray(0, bytesRead))
      unsynced += bytesRead
      if (unsynced >= SYNC_BYTES) {
        await target.datasync()
        unsynced = 0
      }
      await onChunk(bytesRead)
    }
  } finally {
    await target.close()
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if (codeOf(error) === NO_FILE) return undefined
    throw error
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}
