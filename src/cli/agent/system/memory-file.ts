import { randomUUID } from 'node:crypto'
import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** A file system in memory on every Linux: what is written there does not reach a disk. */
const FOLDER = '/dev/shm'

/** A file without a name, from its beginning. */
export interface MemoryFile {
  readonly fd: number
  close(): void
}

/**
 * Makes a file in memory that has no name, for the standard input of a program. Programs that open `/dev/stdin` need a file: the
 * pipes of Node are sockets, which cannot be opened.
 */
export function memoryFile(content: Uint8Array | string): MemoryFile {
  const path = join(FOLDER, `ctl-stdin-${randomUUID()}`)
  const writer = openSync(path, 'wx', 0o600)
  try {
    const fd = openSync(path, 'r')
    writeAll(writer, typeof content === 'string' ? Buffer.from(content) : content)
    return { fd, close: () => closeSync(fd) }
  } finally {
    unlinkSync(path)
    closeSync(writer)
  }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.byteLength;) at += writeSync(fd, bytes, at)
}
