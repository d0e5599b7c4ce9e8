import * as fs from 'node:fs/promises'
import { dirname } from 'node:path'

/** The calls of the file system that an atomic write makes. */
export type FileSystem = Pick<typeof fs, 'open' | 'rename' | 'rm'>

/**
 * Replaces a file of mode 0600: writes a new one beside it, syncs it, renames it over the old one and syncs the folder. A failure
 * leaves the old file as it was.
 *
 * @throws the error of the file system.
 */
export async function replaceFile(path: string, text: string, system: FileSystem = fs): Promise<void> {
  const next = `${path}.${process.pid}`
  try {
    await writeSynced(next, text, system)
    await system.rename(next, path)
  } catch (error) {
    await system.rm(next, { force: true }).catch(() => undefined) // The first error is the one to report.
    throw error
  }
  await syncFolder(dirname(path), system)
}

async function writeSynced(path: string, text: string, system: FileSystem): Promise<void> {
  const file = await system.open(path, 'w', 0o600)
  try {
    await file.chmod(0o600)
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function syncFolder(path: string, system: FileSystem): Promise<void> {
  const folder = await system.open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
