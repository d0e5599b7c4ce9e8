import { join } from 'node:path'
import type { Clock } from '../../ports/clock.ts'
import type { LeaderJob, Leading } from '../../ports/leadership.ts'
import type { BackupOrder, MadeBackup } from '../snapshot/create-backup.ts'
import { listScheduled, removeOld, removePartial, scheduledName } from './backup-files.ts'

/** How the schedule stands, as far as this process knows. */
export interface BackupStatus {
  /** When the newest backup was begun, in ms; undefined where there is none. */
  readonly lastMadeAt: number | undefined
  /** When this process began to lead, in ms. */
  readonly leadsSince: number
  /** Failures of this process. */
  readonly failures: number
  /** Why the last attempt failed; undefined where it did not. */
  readonly fault: string | undefined
  readonly intervalMs: number
  /** Whether the newest backup is older than two intervals. */
  readonly isStale: boolean
}

export interface ScheduleDeps {
  readonly directory: string
  readonly intervalMs: number
  readonly keep: number
  readonly make: (order: BackupOrder) => Promise<MadeBackup>
  readonly clock: Clock
  readonly onMade: (made: MadeBackup) => void
  /** Called for every attempt that failed, and once when the newest backup becomes older than two intervals. */
  readonly onFault: (sentence: string, error?: unknown) => void
}

export interface BackupSchedule {
  readonly job: LeaderJob
  /** Undefined in a process that does not lead: the leader's directory may be on another machine. */
  status(): BackupStatus | undefined
}

const LOOK_EVERY_MS = 15_000
/** Until the next attempt after one that failed, at most. */
const RETRY_MS_MAX = 15 * 60_000
/** Files of a time further ahead were named while the clock was wrong. */
const AHEAD_MS_MAX = 60_000

/**
 * Makes a backup when the newest one in the directory is older than the interval, and keeps the newest ones. Nothing but
 * the files tells when that is, so that restarts and changes of the leader make neither a gap nor a backup too many.
 */
export function createSchedule(deps: ScheduleDeps): BackupSchedule {
  const { directory, intervalMs, keep, clock } = deps
  let leading: AbortSignal | undefined
  let since = 0
  let lastMadeAt: number | undefined
  let failures = 0
  let fault: string | undefined
  let notBefore = 0
  let isSaid = false

  const isStale = (): boolean => clock.now() - (lastMadeAt ?? since) > 2 * intervalMs

  /** Takes note of the newest file that is not ahead of the clock. */
  async function look(): Promise<void> {
    const now = clock.now()
    lastMadeAt = (await listScheduled(directory)).findLast(({ madeAt }) => madeAt <= now + AHEAD_MS_MAX)?.madeAt
    // A clock that was set back would keep a retry waiting.
    notBefore = Math.min(notBefore, now + RETRY_MS_MAX)
  }

  function warnWhenStale(): void {
    if (!isStale()) isSaid = false
    else if (!isSaid) {
      isSaid = true
      deps.onFault(`no backup was made for two intervals: the newest one in ${directory} is stale`)
    }
  }

  async function attempt(signal: AbortSignal): Promise<void> {
    const now = clock.now()
    await removePartial(directory)
    const made = await deps.make({ path: join(directory, scheduledName(now)), replaces: false, signal })
    lastMadeAt = now
    fault = undefined
    deps.onMade(made)
    await removeOld(directory, { keep, untilMs: now + AHEAD_MS_MAX })
  }

  function fail(error: unknown): void {
    failures += 1
    notBefore = clock.now() + Math.min(intervalMs, RETRY_MS_MAX)
    fault = error instanceof Error ? error.message : String(error)
    deps.onFault('a backup of the schedule failed; it is tried again', error)
  }

  async function run({ signal }: Leading): Promise<boolean> {
    if (leading !== signal) since = clock.now()
    leading = signal
    try {
      await look()
      if (clock.now() >= Math.max(notBefore, (lastMadeAt ?? 0) + intervalMs)) await attempt(signal)
    } catch (error) {
      if (!signal.aborted && clock.now() >= notBefore) fail(error)
    }
    if (!signal.aborted) warnWhenStale()
    return false
  }

  return {
    job: { name: 'backup-schedule', everyMs: LOOK_EVERY_MS, isLong: true, run },
    status: () =>
      leading === undefined || leading.aborted
        ? undefined
        : { lastMadeAt, leadsSince: since, failures, fault, intervalMs, isStale: isStale() },
  }
}
