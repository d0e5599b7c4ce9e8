import { statfs } from 'node:fs/promises'
import { BackupRefusal } from './snapshot.ts'

/** What a backup leaves free on a disk: twice of what makes the embedded datastore read-only. */
const SPARE_BYTES = 128 * 1024 * 1024

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
