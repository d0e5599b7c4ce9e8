import { accessSync, constants } from 'node:fs'
import type { Logger } from 'pino'
import { createSchedule, type BackupSchedule } from '../backup/schedule/schedule.ts'
import type { Config } from '../config/config.ts'
import type { Unprobed } from '../ops/health.ts'
import { BootError } from '../ports/boot-error.ts'
import type { Backend } from './backend.ts'
import { openBackups } from './backups.ts'

interface ScheduleGround {
  readonly config: Config
  readonly backend: Pick<Backend, 'openSnapshot' | 'clock'>
  readonly log: Logger
}

/** The schedule of the configuration; undefined where there is none. @throws BootError where its directory cannot be written */
export function openSchedule({ config, backend, log }: ScheduleGround): BackupSchedule | undefined {
  const { backups } = config
  const { openSnapshot, clock } = backend
  if (backups === undefined || openSnapshot === undefined) return undefined
  checkSchedule(config)
  return createSchedule({
    ...backups,
    clock,
    make: openBackups(config, { openSnapshot, clock }),
    onMade: ({ path, bytes, rows }) => log.info({ path, bytes, rows }, 'made a backup'),
    onFault: (sentence, error) => log.error({ err: error }, sentence),
  })
}

/** @throws BootError where the directory of the schedule cannot be written */
export function checkSchedule({ backups }: Config): void {
  if (backups === undefined) return
  const { directory } = backups
  try {
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new BootError(
      1,
      `The directory ${directory} of --backup-dir cannot be written (${code}): make it for the account of the server, or name another.`,
      error,
    )
  }
}

/** What readiness and `ctl doctor` show of the schedule. It has no part in the status of the server. */
export function unprobedSchedule(schedule: BackupSchedule | undefined): readonly Unprobed[] {
  if (schedule === undefined) return []
  const backups: Unprobed = {
    name: 'backups',
    meanwhile: 'Everything works. What changes from now on is in no backup until one is made again.',
    lastCall() {
      const status = schedule.status()
      if (status === undefined) return undefined
      const { lastMadeAt, leadsSince, fault, isStale } = status
      const since = new Date(lastMadeAt ?? leadsSince)
      if (isStale) return { since, fault: 'no backup was made for two intervals; the log has the reason' }
      if (fault !== undefined) return { since, fault: 'the last backup failed; the log has the reason' }
      return lastMadeAt === undefined ? undefined : { since, fault: undefined }
    },
  }
  return [backups]
}
