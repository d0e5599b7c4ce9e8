import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { AdminRefusal, type AdminCaller, type AdminCommand } from '../ports/admin-command.ts'
import { BackupRefusal } from '../ports/snapshot.ts'
import { PASSPHRASE_CHARACTERS_MIN } from './archive/format.ts'
import type { BackupOrder, BackupProgress, MadeBackup } from './snapshot/create-backup.ts'

const CreateInput = z.strictObject({
  path: z.string().refine((path) => isAbsolute(path)),
  replaces: z.boolean(),
  passphrase: z.string().min(PASSPHRASE_CHARACTERS_MIN).optional(),
})

/** The input of `backup.create`. The passphrase is in no log and no error. */
export type BackupInput = z.infer<typeof CreateInput>

/** The command of operators that makes a backup: `ctl admin backup create`. */
export function createBackupCommand(make: (order: BackupOrder) => Promise<MadeBackup>): AdminCommand {
  return {
    name: 'backup.create',
    isLong: true,
    async run({ input }, caller) {
      const parsed = CreateInput.safeParse(input)
      if (!parsed.success) throw new AdminRefusal('The request names no file, or its passphrase is too short.')
      return sentenceOf(await refusable(() => make(orderOf(parsed.data, caller))))
    },
  }
}

function orderOf(input: BackupInput, caller: AdminCaller): BackupOrder {
  return { ...input, signal: caller.signal, onProgress: (progress) => caller.report(progressSentence(progress)) }
}

/** System codes of a file that cannot be written, with the way out. */
const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: free some space, or name a file on another disk',
  EDQUOT: 'the quota is used up: free some space, or name a file on another disk',
  EACCES: 'the server may not write there: let its account write, or name another file',
  EPERM: 'the server may not write there: let its account write, or name another file',
  EROFS: 'the file system is read-only: name another file',
  ENOENT: 'no file can be made there: name another',
  EISDIR: 'it is a directory: name a file',
  ENOTDIR: 'its directory is none: name another file',
  ENAMETOOLONG: 'the name is too long: name another file',
  EIO: 'the disk fails: name a file on another disk',
}

async function refusable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof BackupRefusal) throw new AdminRefusal(error.message, error)
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const advice = ADVICE[code]
    if (advice === undefined) throw error
    throw new AdminRefusal(`The backup cannot be written: ${advice}. Nothing is left of it.`, error)
  }
}

const MEBIBYTE = 1024 * 1024
const inMebibytes = (bytes: number): string => (bytes / MEBIBYTE).toFixed(1)

function progressSentence(progress: BackupProgress): string {
  return progress.stage === 'copying'
    ? `Copied ${inMebibytes(progress.bytes)} of ${inMebibytes(progress.ofBytes)} MiB`
    : `Wrote ${progress.rows} rows, ${inMebibytes(progress.bytes)} MiB`
}

function sentenceOf({ path, bytes, tables, rows, hasMasterKey }: MadeBackup): string {
  const made = `Made the backup ${path}: ${rows} rows of ${tables} tables, ${inMebibytes(bytes)} MiB.`
  return hasMasterKey
    ? `${made} The master key is in it, under your passphrase.`
    : `${made} Keep the master key apart from it: without that key its secrets cannot be read.`
}
