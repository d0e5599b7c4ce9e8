import { BootError } from '../../ports/boot-error.ts'
import { freeBytesBelow, RESERVE_BYTES } from '../../ports/free-space.ts'
import type { Manifest } from '../archive/format.ts'

/** Bytes on disk for each byte of rows: the tables with their indexes, and the write-ahead log of one load. */
const BYTES_PER_BYTE = 5
/** An empty embedded datastore. */
const BASE_BYTES = 80 * 1024 * 1024

/** About how many bytes an embedded datastore with these rows needs while it is made. */
export function bytesNeeded({ tables }: Manifest): number {
  return BASE_BYTES + RESERVE_BYTES + BYTES_PER_BYTE * tables.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** @throws BootError where the file system of the directory does not have as many free bytes. */
export async function assertSpace(directory: string, manifest: Manifest, flag: string): Promise<void> {
  const [needed, free] = [bytesNeeded(manifest), await freeBytesBelow(directory)]
  if (free >= needed) return
  throw new BootError(
    1,
    `The backup needs about ${mebibytes(needed)} in ${directory}, where ${mebibytes(free)} are free: free some, or name another directory with ${flag}.`,
  )
}

/** E.g. `12 MiB`. */
export function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024)} MiB`
}
