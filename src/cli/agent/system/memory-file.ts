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
 * pipes of Node are sockets, which cannot be opened. It loses its name before its content is written, which may be a secret key: so
 * a process that is killed leaves none behind.
 */
export function memoryFile(content: Uint8Array | string): MemoryFile {
  const fd = openUnnamed()
  try {
    writeAll(fd, typeof content === 'string' ? Buffer.from(content) : content)
  } catch (error) {
    closeSync(fd)
    throw error
  }
  return { fd, close: () => closeSync(fd) }
}

function openUnnamed(): number {
  const path = join(FOLDER, `ctl-stdin-${randomUUID()}`)
  const fd = openSync(path, 'wx+', 0o600)
  unlinkSync(path)
  return fd
}

/** Writes at positions, so that the program reads from the beginning. */
function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.byteLength;) at += writeSync(fd, bytes, at, bytes.byteLength - at, at)
}
