import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { openTrustedFile, UntrustedPath } from './trusted-path.ts'

/** A hook whose file is open: what was checked is what runs, even if another file takes its name meanwhile. */
export interface OpenHook {
  readonly name: string
  readonly file: FileHandle
  /** SHA-256 of its content, 64 hex digits. */
  readonly checksum: string
  close(): Promise<void>
}

/** Names of hooks (docs/agent-protocol.md: Capabilities). */
const HOOK_NAME = /^[a-z0-9][a-z0-9._-]{0,127}$/
const BYTES_MAX = 64 * 1024 * 1024
const ANY_EXECUTE = 0o111
/** `#!`, and the magic number of ELF. For any other content the C library would start a shell. */
const HEADERS = [Buffer.from('#!'), Buffer.from('\u007fELF')]

function isHookName(name: string): boolean {
  return HOOK_NAME.test(name)
}

/** Opens a hook in its folder. @throws UntrustedPath with the reason why it is none */
export async function openHook(folder: FileHandle, name: string): Promise<OpenHook> {
  if (!isHookName(name)) throw new UntrustedPath(name, 'is no name of a hook: lower case letters, digits, and . _ -')
  const file = await openTrustedFile(folder, name)
  try {
    return { name, file, checksum: await checksumOf(file, name), close: () => file.close() }
  } catch (error) {
    await file.close()
    throw error
  }
}

async function checksumOf(file: FileHandle, name: string): Promise<string> {
  const { mode, size } = await file.stat()
  if ((mode & ANY_EXECUTE) === 0) throw new UntrustedPath(name, 'is not executable')
  if (size > BYTES_MAX) throw new UntrustedPath(name, 'is over 64 MiB')
  const { buffer } = await file.read({ buffer: Buffer.alloc(4), position: 0 })
  if (!HEADERS.some((header) => buffer.subarray(0, header.length).equals(header)))
    throw new UntrustedPath(name, 'is neither a program nor a script that begins with #!')
  return digestOf(file)
}

async function digestOf(file: FileHandle): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of file.createReadStream({ start: 0, end: BYTES_MAX, autoClose: false }))
    hash.update(chunk as Buffer)
  return hash.digest('hex')
}
