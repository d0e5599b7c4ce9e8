import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { usageError } from '../../errors/cli-error.ts'
import type { Io } from '../../output/io.ts'

/** Where an export goes. */
export interface ExportSink {
  write(text: string): Promise<void>
  /** All was written: only now a file has its name. */
  keep(): Promise<void>
  /** Leaves nothing behind, and what was there before as it was. */
  discard(): Promise<void>
}

/** Lines to stdout as they come, or to a file that appears whole or not at all (mode 0600). @throws CliError where it cannot be made. */
export async function openExportSink(io: Io, path: string | undefined): Promise<ExportSink> {
  if (path === undefined) return { write: async (text) => io.stdout.write(text), async keep() {}, async discard() {} }
  const part = `${path}.${process.pid}.part`
  const file = await openPart(part, path)
  return {
    async write(text) {
      await file.writeFile(text)
    },
    async keep() {
      await file.sync()
      await file.close()
      await rename(part, path)
    },
    async discard() {
      await file.close()
      await rm(part, { force: true })
    },
  }
}

async function openPart(part: string, path: string): Promise<FileHandle> {
  try {
    return await open(part, 'wx', 0o600)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    throw usageError(`--output ${path} cannot be written${code}`)
  }
}
