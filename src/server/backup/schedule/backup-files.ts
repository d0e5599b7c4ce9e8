import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { BACKUP_EXTENSION } from '../archive/format.ts'

/** A backup that a schedule made, by its name. */
export interface ScheduledFile {
  readonly name: string
  /** When it was begun, in ms. */
  readonly madeAt: number
}

const NAME = /^ctl-(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z\.ctlbackup$/
const PARTIAL = /^ctl-\d{8}T\d{6}Z\.ctlbackup\.\d+\.partial$/

/** Name of a backup that is begun now: `ctl-20260301T120000Z.ctlbackup`, in UTC. */
export function scheduledName(nowMs: number): string {
  const text = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return `ctl-${text}${BACKUP_EXTENSION}`
}

/** Finds the backups of a schedule, the oldest first. Files with other names are none. @throws the system's error */
export async function listScheduled(directory: string): Promise<readonly ScheduledFile[]> {
  const names = await readdir(directory)
  const found = names.flatMap((name) => {
    const [, year, month, day, hour, minute, second] = NAME.exec(name) ?? []
    const madeAt = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
    return Number.isNaN(madeAt) ? [] : [{ name, madeAt }]
  })
  return found.toSorted((a, b) => a.madeAt - b.madeAt)
}

/** Which backups of a schedule are kept. */
interface Kept {
  readonly keep: number
  /** Files of a later time, in ms, were named while the clock was wrong: they stay, and are not counted. */
  readonly untilMs: number
}

/** Removes all but the newest ones. */
export async function removeOld(directory: string, { keep, untilMs }: Kept): Promise<void> {
  const files = (await listScheduled(directory)).filter(({ madeAt }) => madeAt <= untilMs)
  for (const { name } of files.slice(0, Math.max(0, files.length - keep)))
    await rm(join(directory, name), { force: true })
}

/** Removes what servers that were killed have left half-written. Only the leader writes here. */
export async function removePartial(directory: string): Promise<void> {
  for (const name of await readdir(directory)) if (PARTIAL.test(name)) await rm(join(directory, name), { force: true })
}
