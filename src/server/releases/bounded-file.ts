import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'

/** Why a file was not read, as a part of a sentence; nothing of its content. */
export class FileFault extends Error {
  readonly isMissing: boolean

  constructor(fault: string, isMissing = false, cause?: unknown) {
    super(fault, { cause })
    this.name = 'FileFault'
    this.isMissing = isMissing
  }
}

/**
 * Reads a regular file of at most so many bytes. Anything else, such as a pipe, is refused without waiting for it.
 *
 * @throws FileFault
 */
export async function readBounded(path: string, bytesMax: number): Promise<Buffer> {
  const file = await opened(path)
  try {
    const { size } = await regular(file)
    if (size > bytesMax) throw new FileFault(`is longer than ${bytesMax} bytes`)
    const bytes = Buffer.alloc(size)
    const { bytesRead } = await file.read(bytes, 0, size, 0)
    return bytes.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** Opens a regular file. @throws FileFault */
export async function openRegular(path: string): Promise<FileHandle> {
  const file = await opened(path)
  try {
    await regular(file)
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

async function opened(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new FileFault(code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`, code === 'ENOENT', error)
  }
}

async function regular(file: FileHandle) {
  const stats = await file.stat()
  if (!stats.isFile()) throw new FileFault('is no regular file')
  return stats
}
