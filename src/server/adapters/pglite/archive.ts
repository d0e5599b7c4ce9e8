/** A file or directory of an archive. */
export interface ArchiveEntry {
  /** Relative, with `/` between its parts. */
  readonly path: string
  /** Undefined for a directory, which comes before its contents. */
  readonly bytes: Uint8Array | undefined
}

const BLOCK = 512

function textAt(header: Buffer, start: number, length: number): string {
  const field = header.subarray(start, start + length)
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end < 0 ? length : end)
}

/**
 * Reads a tar archive (ustar, POSIX.1-1988) of files and directories whose names have at most 100 bytes, as the build
 * writes it.
 *
 * @throws Error where it contains anything else, or is truncated.
 */
export function* readArchive(archive: Buffer): Generator<ArchiveEntry> {
  let at = 0
  for (;;) {
    const header = archive.subarray(at, at + BLOCK)
    if (header.length < BLOCK) throw new Error('the archive ends too soon')
    if (header[0] === 0) return
    const path = textAt(header, 0, 100).replace(/\/$/, '')
    const size = Number.parseInt(textAt(header, 124, 12), 8)
    const type = textAt(header, 156, 1)
    const start = at + BLOCK
    if (!['0', '5'].includes(type) || !(start + size <= archive.length))
      throw new Error(`the archive has an entry that cannot be read: ${path}`)
    yield { path, bytes: type === '5' ? undefined : archive.subarray(start, start + size) }
    at = start + Math.ceil(size / BLOCK) * BLOCK
  }
}
