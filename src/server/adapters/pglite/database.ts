import { Kysely } from 'kysely'
import type { Datastore, Db, Pool } from '../../ports/datastore.ts'
import type { Tables } from '../../ports/tables.ts'
import { createDialect } from '../postgres/dialect.ts'
import { STATEMENT_DEADLINES_MS } from '../postgres/deadlines.ts'
import { ping } from '../postgres/ping.ts'
import { createTransactionScope } from '../postgres/transaction-scope.ts'
import { createTransactions } from '../postgres/transactions.ts'
import { type Engine, startEngine } from './engine.ts'
import { createSessionQueue } from './session-queue.ts'

export interface PgliteOptions {
  /** The server's data directory; undefined keeps everything in memory, gone at the end (`--dev`, tests). */
  readonly dataDir: string | undefined
  /** How long a statement, and the wait for a turn, may each take per pool, in ms. Default 5,000, 30,000 and 300,000. */
  readonly statementDeadlinesMs?: Partial<Record<Pool, number>>
  /** Hears once when the engine broke: it acknowledges nothing more until the server is restarted. */
  readonly onFailure?: (error: Error) => void
}

function assemble(engine: Engine, deadlinesMs: Record<Pool, number>): Datastore {
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

/** Opens the embedded PostgreSQL. Creates no tables: see `migrate`. */
export async function openPglite(options: PgliteOptions): Promise<Datastore> {
  const onFailure = options.onFailure ?? (() => undefined)
  const engine = await startEngine({ directory: undefined, syncModule: 'node:fs', startParams: undefined }, onFailure)
  return assemble(engine, { ...STATEMENT_DEADLINES_MS, ...options.statementDeadlinesMs })
}
