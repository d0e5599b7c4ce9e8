import { statfs } from 'node:fs/promises'
import { BackupRefusal } from './snapshot.ts'

/**
 * Space that the embedded datastore keeps free for writes that must always succeed: the engine aborts when its log or a
 * checkpoint cannot be written. Four log segments of 16 MiB.
 */
export const RESERVE_BYTES = 64 * 1024 * 1024
/** What a backup leaves free on a disk. */
const SPARE_BYTES = 2 * RESERVE_BYTES

const MEBIBYTE = 1024 * 1024

/** Free bytes of the file system below a directory, those set aside for root left out. */
export async function freeBytesBelow(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}

/** @throws BackupRefusal where so many bytes do not fit without filling the disk. */
export async function assertRoom(directory: string, bytes: number, advice: string): Promise<void> {
  const free = await freeBytesBelow(directory)
  if (free >= bytes + SPARE_BYTES) return
  const needed = Math.ceil((bytes + SPARE_BYTES) / MEBIBYTE)
  throw new BackupRefusal(
    `The backup needs ${needed} MiB in ${directory}, which has ${Math.floor(free / MEBIBYTE)} MiB free: free some space, or ${advice}.`,
  )
}
