import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { DatastoreStopped, isUnavailable, type Db } from '../../ports/datastore.ts'
import { assertRoom } from '../../ports/free-space.ts'
import type { SnapshotRequest } from '../../ports/snapshot.ts'
import { hasSqlState } from '../postgres/errors.ts'
import { copyFile, listTree, type FoundFile } from './copy-tree.ts'
import type { Maintenance } from './maintenance.ts'

export interface OnlineCopyDeps {
  readonly db: Db
  readonly maintenance: Pick<Maintenance, 'holdLog'>
  /** The engine's own directory. */
  readonly engineDirectory: string
}

/** What another engine makes itself, or must not find. Directories among them stay, empty. */
const NOT_COPIED =
  /^(pg_wal\/|pg_replslot\/|pg_dynshmem\/|pg_notify\/|pg_serial\/|pg_snapshots\/|pg_stat_tmp\/|pg_subtrans\/|postmaster\.|backup_label|global\/pg_control$)|pgsql_tmp/
const CONTROL_FILE = 'global/pg_control'
/** SQLSTATE of `pg_backup_stop` where no backup is in progress. */
const NOT_IN_PROGRESS = '55000'
const LOG_FILE = /^[0-9A-F]{24}$/

const ROOM_ADVICE = 'name another place with --backup-scratch-dir'
/** Bytes between two looks at the free space. */
const LOOK_BYTES = 32 * 1024 * 1024
const STOP_ATTEMPTS = 60
/** Once nobody waits for the backup any more: the next one ends what is left under way. */
const STOP_ATTEMPTS_ENDED = 3
const STOP_AGAIN_MS = 1_000
/** After a statement that stopped writes, others have the session for this multiple of its duration. */
const YIELD_TIMES = 4

/**
 * Copies the engine's directory while it takes writes, as PostgreSQL's own base backups do: `pg_backup_start`, the files,
 * `pg_backup_stop`, then the log from the one to the other. An engine that opens the copy replays that log, and has the
 * state of the end. Writes wait for two checkpoints and the two calls, each for itself.
 *
 * @throws BackupRefusal where there is no room, and the reason of the signal; the session has no backup under way then.
 */
export async function copyOnline(deps: OnlineCopyDeps, to: string, request: SnapshotRequest): Promise<void> {
  const { db, maintenance, engineDirectory } = deps
  const release = await maintenance.holdLog()
  try {
    // Most of what the start would write is written before it: writes wait twice for a short time instead of once for long.
    await inTurn(() => sql`checkpoint`.execute(db))
    await startBackup(db, request.signal)
    const { failure } = await copyFiles(engineDirectory, to, request)
    const label = await stopBackup(db, request.signal)
    if (failure !== undefined) throw failure.reason
    await writeFile(join(to, 'backup_label'), label, { mode: 0o600 })
    await copyLog(engineDirectory, to, { label, signal: request.signal })
  } finally {
    release()
  }
}

async function inTurn<T>(statement: () => Promise<T>): Promise<T> {
  const beganMs = performance.now()
  const answer = await statement()
  await sleep((performance.now() - beganMs) * YIELD_TIMES)
  return answer
}

/** A start whose deadline passed may begin a backup afterwards: the session must not stay in it. */
async function startBackup(db: Db, signal: AbortSignal): Promise<void> {
  await endLeftOver(db, signal)
  try {
    await inTurn(() => sql`select pg_backup_start('ctl', true)`.execute(db))
  } catch (reason) {
    await endLeftOver(db, signal)
    throw reason
  }
}

/** Ends a backup that is under way in the session; does nothing where there is none. */
async function endLeftOver(db: Db, signal: AbortSignal): Promise<void> {
  try {
    await stopBackup(db, signal)
  } catch (error) {
    if (!hasSqlState(error, NOT_IN_PROGRESS)) throw error
  }
}

/** Resolves with the content of `backup_label`, from which an engine learns where its replay begins. */
async function stopBackup(db: Db, signal: AbortSignal): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { rows } = await sql<{ labelfile: string }>`select labelfile from pg_backup_stop(false)`.execute(db)
      return rows[0]?.labelfile ?? ''
    } catch (error) {
      // A session that stays in a backup could never begin another: an overloaded queue is asked again.
      const attemptsMax = signal.aborted ? STOP_ATTEMPTS_ENDED : STOP_ATTEMPTS
      if (attempt >= attemptsMax || !isUnavailable(error) || error instanceof DatastoreStopped) throw error
      await sleep(STOP_AGAIN_MS)
    }
  }
}

/** Copies everything but the log, the control file last. A failure is returned: the backup has to be stopped first. */
async function copyFiles(
  from: string,
  to: string,
  request: SnapshotRequest,
): Promise<{ readonly failure?: { readonly reason: unknown } }> {
  try {
    const files = (await listTree(from, to)).filter(({ path }) => !NOT_COPIED.test(path))
    const looking = await createProgress(files, to, request)
    for (const { path } of files) await copyFile(join(from, path), join(to, path), looking)
    await copyFile(join(from, CONTROL_FILE), join(to, CONTROL_FILE), looking)
    return {}
  } catch (reason) {
    return { failure: { reason } }
  }
}

/** Refuses at once where the files do not fit, and later when something else takes the space. */
async function createProgress(files: readonly FoundFile[], to: string, { signal, onCopied }: SnapshotRequest) {
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0)
  let copied = 0
  let lookedAt = 0
  await assertRoom(to, total, ROOM_ADVICE)
  return async (bytes: number): Promise<void> => {
    signal.throwIfAborted()
    copied += bytes
    onCopied?.(copied, Math.max(total, copied))
    if (copied - lookedAt < LOOK_BYTES) return
    lookedAt = copied
    await assertRoom(to, 0, ROOM_ADVICE)
  }
}

interface LogRange {
  readonly label: string
  readonly signal: AbortSignal
}

/** Copies the log from the start of the backup on. Files before it are not needed, and those after its end are not read. */
async function copyLog(from: string, to: string, { label, signal }: LogRange): Promise<void> {
  const first = /\(file ([0-9A-F]{24})\)/.exec(label)?.[1]
  if (first === undefined) throw new Error('the label of the backup does not name its first log file')
  const files = await listTree(join(from, 'pg_wal'), join(to, 'pg_wal'))
  const needed = files.filter(({ path }) => LOG_FILE.test(path) && path >= first)
  for (const { path } of needed)
    await copyFile(join(from, 'pg_wal', path), join(to, 'pg_wal', path), () => signal.throwIfAborted())
}
