import { mkdirSync } from 'node:fs'
import { Kysely } from 'kysely'
import type { Datastore, Db, Pool } from '../../ports/datastore.ts'
import type { Tables } from '../../ports/tables.ts'
import { createDialect } from '../postgres/dialect.ts'
import { STATEMENT_DEADLINES_MS } from '../postgres/deadlines.ts'
import { ping } from '../postgres/ping.ts'
import { createTransactionScope } from '../postgres/transaction-scope.ts'
import { createTransactions } from '../postgres/transactions.ts'
import { directoryErrorOf, prepareDirectory } from './data-directory.ts'
import { lockDirectory } from './directory-lock.ts'
import { type Engine, startEngine } from './engine.ts'
import { startMaintenance } from './maintenance.ts'
import { createSessionQueue } from './session-queue.ts'
import type { EngineOptions } from './worker.js'

export interface PgliteOptions {
  /** The server's data directory; undefined keeps everything in memory, gone at the end (`--dev`, tests). */
  readonly dataDir: string | undefined
  /** How long a statement, and the wait for a turn, may each take per pool, in ms. Default 5,000, 30,000 and 300,000. */
  readonly statementDeadlinesMs?: Partial<Record<Pool, number>>
  /** Hears once when the engine broke: it acknowledges nothing more until the server is restarted. */
  readonly onFailure: (error: Error) => void
  /** Hears of maintenance that failed; it is tried again. */
  readonly warn: (message: string, cause?: unknown) => void
  /** What tests put in the engine's place. */
  readonly engine?: Partial<Pick<EngineOptions, 'syncModule' | 'startParams'>>
}

/** The embedded store, with what its start found. */
export interface EmbeddedDatastore extends Datastore {
  /** Whether its directory was made by this start. */
  readonly isNew: boolean
  /** Whether the last run did not end in order and the log was replayed. */
  readonly isRecovered: boolean
}

const ENGINE_OPTIONS = { syncModule: 'node:fs', startParams: undefined }

function assemble(engine: Engine, options: PgliteOptions): Datastore {
  const deadlinesMs = { ...STATEMENT_DEADLINES_MS, ...options.statementDeadlinesMs }
  const scope = createTransactionScope()
  const sessions = createSessionQueue(engine)
  const open = (name: Pool): Db =>
    new Kysely<Tables>({ dialect: createDialect(sessions.pool(deadlinesMs[name]), scope) })
  const pools: Record<Pool, Db> = { interactive: open('interactive'), worker: open('worker'), bulk: open('bulk') }
  const pool = (name: Pool): Db => pools[name]
  return {
    kind: 'embedded',
    pool,
    transaction: createTransactions(pool, scope),
    ping: (pingDeadlineMs) => ping(pools.interactive, pingDeadlineMs),
    async close() {
      await sessions.close()
      await engine.close()
    },
  }
}

/** Opens the embedded PostgreSQL in memory: nothing is kept. */
async function openInMemory(options: PgliteOptions): Promise<EmbeddedDatastore> {
  const engine = await startEngine({ directory: undefined, ...ENGINE_OPTIONS }, options.onFailure)
  return { ...assemble(engine, options), isNew: true, isRecovered: false }
}

async function openOnDisk(dataDir: string, options: PgliteOptions): Promise<EmbeddedDatastore> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  let engine: Engine | undefined
  const lock = await lockDirectory(dataDir, () => engine?.fail('its lock file was removed'))
  try {
    const { engineDirectory, isNew } = await prepareDirectory(dataDir)
    engine = await startEngine({ directory: engineDirectory, ...ENGINE_OPTIONS, ...options.engine }, options.onFailure)
    const datastore = assemble(engine, options)
    const maintenance = startMaintenance(datastore, options.warn)
    return {
      ...datastore,
      isNew,
      isRecovered: engine.isRecovered,
      async close() {
        await maintenance.stop()
        await datastore.close()
        lock.release()
      },
    }
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
  if (dataDir === undefined) return openInMemory(options)
  try {
    return await openOnDisk(dataDir, options)
  } catch (error) {
    throw directoryErrorOf(error, dataDir)
  }
}
