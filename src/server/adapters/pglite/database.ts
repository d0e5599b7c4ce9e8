import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely } from 'kysely'
import type { Datastore, Db, Pool } from '../../ports/datastore.ts'
import type { SeatPlace } from '../../ports/leader-seat.ts'
import { freeBytesBelow } from '../../ports/free-space.ts'
import type { OpenSnapshot } from '../../ports/snapshot.ts'
import type { Tables } from '../../ports/tables/tables.ts'
import { createDialect } from '../postgres/dialect.ts'
import { STATEMENT_DEADLINES_MS } from '../postgres/deadlines.ts'
import { ping } from '../postgres/ping.ts'
import { createTransactionScope } from '../postgres/transaction-scope.ts'
import { createTransactions } from '../postgres/transactions.ts'
import { openProcessFiles } from '../system/process-files.ts'
import { blankDatabaseFile } from './blank-database.ts'
import { directoryErrorOf, makeDataDirectory, prepareDirectory } from './data-directory.ts'
import { lockDirectory } from './directory-lock.ts'
import { createOnlyPlace } from './leader-seat.ts'
import { type Engine, startEngine } from './engine.ts'
import { startMaintenance } from './maintenance.ts'
import { createSnapshots } from './open-snapshot.ts'
import { createSessionQueue } from './session-queue.ts'
import { type SpaceGuard, startSpaceGuard } from './space-guard.ts'
import type { EngineOptions } from './worker.js'

type Warn = (message: string, cause?: unknown) => void

export interface PgliteOptions {
  /** The server's data directory; undefined keeps everything in memory and loses it at the end (`--dev`, tests). */
  readonly dataDir: string | undefined
  /** Where the copies for backups are made, in a directory that no other server uses. Default: in the data directory. */
  readonly scratchDir?: string | undefined
  /** How long a statement, and the wait for the session, may each take per pool, in ms. Default 5,000, 30,000 and 300,000. */
  readonly statementDeadlinesMs?: Partial<Record<Pool, number>>
  /** Called once when the engine failed: it acknowledges nothing more until the server is restarted. Default: throws it. */
  readonly onFailure?: (error: Error) => void
  /** Called with failed maintenance, which is retried, and with a disk that fills up. Default: a process warning. */
  readonly warn?: Warn
  /** The replacement of the engine in tests. */
  readonly engine?: Partial<Omit<EngineOptions, 'place'>> & {
    /** What a new database begins as. */
    readonly image?: string
  }
}

/** The embedded store, with what its start found. */
export interface EmbeddedDatastore extends Datastore {
  readonly place: SeatPlace
  /** Whether its directory was made by this start. */
  readonly isNew: boolean
  /** Whether the last run did not end cleanly and the log was replayed. */
  readonly isRecovered: boolean
  /** Snapshots for backups; absent where it is in memory. */
  readonly openSnapshot?: OpenSnapshot
}

const ENGINE_OPTIONS = { syncModule: 'node:fs', startParams: undefined }

/** Below this limit of open files, the 1,000 that the engine opens by itself would leave too few to connections. */
const FEW_FILES = 4_096
/** The engine starts with no fewer. */
const ENGINE_FILES_MIN = 64

/** The files of the engine: a quarter of a low limit. It closes those that were not used for long. */
function engineFiles(max: number | undefined): { readonly filesMax?: number } {
  return max === undefined || max >= FEW_FILES ? {} : { filesMax: Math.max(ENGINE_FILES_MIN, Math.floor(max / 4)) }
}

/** How long what was asked before the store closes may take, and then how long the engine may take to shut down, in ms. */
const CLOSE_DEADLINE_MS = 5_000

/** The lanes that have their own connections on PostgreSQL: heartbeats do not queue behind other requests here either. */
const RESERVED: ReadonlySet<Pool> = new Set(['heartbeats', 'node-keys'])

function assemble(engine: Engine, options: PgliteOptions, warn: Warn): Datastore {
  const deadlinesMs = { ...STATEMENT_DEADLINES_MS, ...options.statementDeadlinesMs }
  const scope = createTransactionScope()
  const sessions = createSessionQueue(engine)
  const open = (name: Pool): Db => {
    const queue = RESERVED.has(name) ? 'reserved' : 'common'
    return new Kysely<Tables>({ dialect: createDialect(sessions.pool(queue, deadlinesMs[name]), scope) })
  }
  const pools: Record<Pool, Db> = {
    interactive: open('interactive'),
    heartbeats: open('heartbeats'),
    'node-keys': open('node-keys'),
    'change-feed': open('change-feed'),
    worker: open('worker'),
    bulk: open('bulk'),
  }
  const pool = (name: Pool): Db => pools[name]
  return {
    kind: 'embedded',
    pool,
    transaction: createTransactions(pool, scope),
    ping: (pingDeadlineMs) => ping(pools.interactive, pingDeadlineMs),
    lost: () => engine.failure(),
    async close() {
      const isLost = engine.failure() !== undefined
      if (!isLost) await sessions.close(CLOSE_DEADLINE_MS)
      if ((await engine.close(CLOSE_DEADLINE_MS)) || isLost) return
      warn('the embedded datastore did not shut down cleanly; the next start recovers from its log')
    },
  }
}

const throwIt = (error: Error) => {
  throw error
}

const emitWarning: Warn = (message) => process.emitWarning(message)

function watchSpace(directory: string, datastore: Datastore, warn: Warn): SpaceGuard {
  return startSpaceGuard({ db: datastore.pool('worker'), freeBytes: () => freeBytesBelow(directory), warn })
}

/** Starts the engine, its queue and its chores. */
async function start(directory: string | undefined, options: PgliteOptions) {
  const { onFailure = throwIt, warn = emitWarning } = options
  const { image, ...engineOptions } = options.engine ?? {}
  const place = directory === undefined ? { image: image ?? blankDatabaseFile() } : { directory }
  const engine = await startEngine(
    { ...ENGINE_OPTIONS, ...engineFiles(openProcessFiles()?.max), ...engineOptions, place },
    onFailure,
  )
  const datastore = assemble(engine, options, warn)
  const space = directory === undefined ? undefined : watchSpace(directory, datastore, warn)
  const maintenance = startMaintenance(datastore, { warn, isReadOnly: () => space?.isReadOnly() === true })
  const shutDown = async () => {
    await space?.stop()
    await maintenance.stop()
    await datastore.close()
  }
  let closed: Promise<void> | undefined
  const close = () => (closed ??= shutDown())
  const facts = { isRecovered: engine.isRecovered, place: createOnlyPlace() }
  return { datastore: { ...datastore, ...facts, close }, maintenance, fail: engine.fail }
}

/** What a killed server left of a backup. It may be on a disk of its own: a server without backups is a server. */
function removeScratch(directory: string, warn: Warn = emitWarning): void {
  try {
    rmSync(directory, { recursive: true, force: true })
  } catch (error) {
    warn(`the scratch directory of backups ${directory} cannot be removed; no backup is made until it can`, error)
  }
}

async function openOnDisk(dataDir: string, options: PgliteOptions): Promise<EmbeddedDatastore> {
  makeDataDirectory(dataDir)
  let fail: ((reason: string) => void) | undefined
  const lock = await lockDirectory(dataDir, () => fail?.('its lock file was removed'))
  try {
    const { engineDirectory, isNew } = prepareDirectory(dataDir, options.engine?.image)
    const scratchDirectory = options.scratchDir ?? join(dataDir, 'backup-scratch')
    removeScratch(scratchDirectory, options.warn)
    const { datastore, maintenance, fail: failEngine } = await start(engineDirectory, options)
    fail = failEngine
    const db = datastore.pool('bulk')
    const openSnapshot = createSnapshots({ db, maintenance, engineDirectory }, scratchDirectory)
    const close = () => datastore.close().finally(() => lock.release())
    return { ...datastore, isNew, openSnapshot, close }
  } catch (error) {
    lock.release()
    throw error
  }
}

/**
 * Opens the embedded PostgreSQL. Creates no tables: see `migrate`.
 * @throws BootError when the directory cannot be used, is in use, or does not keep what was synced.
 */
export async function openPglite(options: PgliteOptions): Promise<EmbeddedDatastore> {
  const { dataDir } = options
  if (dataDir === undefined) return { ...(await start(undefined, options)).datastore, isNew: true }
  try {
    return await openOnDisk(dataDir, options)
  } catch (error) {
    throw directoryErrorOf(error, dataDir)
  }
}
