import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { usageError } from '../../errors/cli-error.ts'

/** The names of files that are being written. */
export const PART = /\.(?:yaml|json|export-unfinished)\.\d+\.part$/

/** Writes a file that appears whole or not at all. @throws CliError where it cannot be written. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const part = `${path}.${process.pid}.part`
  try {
    const file = await openNew(part)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(part, path)
  } catch (cause) {
    await rm(part, { force: true })
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
    throw usageError(`${path} cannot be written (${code})`)
  }
}

/** A part that a killed run left, or a link of that name, is not written through. */
async function openNew(part: string): Promise<FileHandle> {
  try {
    return await open(part, 'wx', 0o644)
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause) || cause.code !== 'EEXIST') throw cause
    await rm(part, { force: true })
    return open(part, 'wx', 0o644)
  }
}
