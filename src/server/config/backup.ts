import { createHash } from 'node:crypto'
import { join, resolve } from 'node:path'
import type { Parsed } from './values.ts'

/** Backups that the leader makes by itself. */
export interface BackupSchedule {
  readonly directory: string
  /** 1 minute to 31 days. */
  readonly intervalMs: number
  /** Backups of the schedule that are kept, the newest ones; 1 to 1,000. */
  readonly keep: number
}

const INTERVAL = /^(?=\d)(?:(\d{1,2})d)?(?:(\d{1,3})h)?(?:(\d{1,5})m)?$/
const MINUTE_MS = 60_000
const INTERVAL_MS_MAX = 31 * 24 * 60 * MINUTE_MS

/** Time from one backup of the schedule to the next, in ms. */
export function backupInterval(text: string): Parsed<number> {
  const mustBe = 'a duration from 1m to 31d, such as 30m, 24h or 1d12h'
  const parts = INTERVAL.exec(text)
  if (parts === null) return { mustBe }
  const [days = 0, hours = 0, minutes = 0] = parts.slice(1).map((digits) => Number(digits ?? 0))
  const value = ((days * 24 + hours) * 60 + minutes) * MINUTE_MS
  return value >= MINUTE_MS && value <= INTERVAL_MS_MAX ? { value } : { mustBe }
}

/** A number of backups. */
export function backupKeep(text: string): Parsed<number> {
  const value = /^\d{1,4}$/.test(text) ? Number(text) : 0
  return value >= 1 && value <= 1_000 ? { value } : { mustBe: 'a whole number from 1 to 1000' }
}

/** The options of backups; undefined where one is not set. */
export interface BackupValues {
  readonly backupDir: string | undefined
  readonly backupInterval: number | undefined
  readonly backupKeep: number | undefined
  readonly backupScratchDir: string | undefined
}

/** The schedule; undefined where no directory is named. */
export function backupScheduleOf({ backupDir, backupInterval: interval, backupKeep: keep }: BackupValues) {
  if (backupDir === undefined || interval === undefined || keep === undefined) return undefined
  return { directory: resolve(backupDir), intervalMs: interval, keep } satisfies BackupSchedule
}

/** Where the embedded datastore of that data directory is copied for a backup. Servers that share the place have one each. */
export function backupScratchOf({ backupScratchDir }: BackupValues, dataDir: string): string {
  if (backupScratchDir === undefined) return join(dataDir, 'backup-scratch')
  const server = createHash('sha256').update(dataDir).digest('hex').slice(0, 12)
  return join(resolve(backupScratchDir), `ctl-backup-scratch-${server}`)
}
