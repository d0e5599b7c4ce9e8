import { open, rename, rm } from 'node:fs/promises'
import { usageError } from '../../errors/cli-error.ts'

/** The names of files that are being written. */
export const PART = /\.(?:yaml|json|export-unfinished)\.\d+\.part$/

/** Writes a file that appears whole or not at all. @throws CliError where it cannot be written. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const part = `${path}.${process.pid}.part`
  try {
    // A part that a killed run left, or a link of that name, is not written through.
    await rm(part, { force: true })
    const file = await open(part, 'wx', 0o644)
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
