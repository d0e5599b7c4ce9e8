import { Kysely } from 'kysely'
import type { Datastore, Db, Pool } from '../../ports/datastore.ts'
import type { Tables } from '../../ports/tables.ts'
import type { SeatPlace } from '../../ports/leader-seat.ts'
import { assertOwnSessions } from './assert-own-sessions.ts'
import { STATEMENT_DEADLINES_MS } from './deadlines.ts'
import { createDialect } from './dialect.ts'
import { bootErrorOf, inspectServer } from './inspect-server.ts'
import { openLeaderSeat } from './leader-seat.ts'
import { createNotifyHints } from './outbox-hints.ts'
import { ping } from './ping.ts'
import { createPgPool, type PoolSize } from './pool.ts'
import { createStatementNames } from './session.ts'
import { createTransactionScope } from './transaction-scope.ts'
import { createTransactions } from './transactions.ts'

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string
  /** Sizes where they differ from S1 Limits: interactive 20, worker 10, bulk 5; none kept open when idle. */
  readonly pools?: Partial<Record<Pool, PoolSize>>
  /** How long one statement may take per pool, in ms. Default 5,000, 30,000 and 300,000. */
  readonly statementDeadlinesMs?: Partial<Record<Pool, number>>
  /** How long to wait for a connection, in ms. Default 3,000. */
  readonly acquireDeadlineMs?: number
  /** Hears what an operator should know but nothing failed for. */
  readonly warn: (message: string, cause?: unknown) => void
}

/** PostgreSQL with the place where a process stands for leadership. */
export interface PostgresDatastore extends Datastore {
  readonly place: SeatPlace
}

const POOLS: readonly Pool[] = ['interactive', 'worker', 'bulk']
const SIZES: Record<Pool, PoolSize> = {
  interactive: { min: 0, max: 20 },
  worker: { min: 0, max: 10 },
  bulk: { min: 0, max: 5 },
}
const ACQUIRE_DEADLINE_MS = 3_000

/**
 * Opens PostgreSQL through its three pools and looks at what it found: version, whether it takes writes, whether its
 * commits are durable. Creates nothing: see `migrate`.
 * @throws BootError when it cannot be reached (exit 8), is too old or does not take writes (exit 1 or 8), or when a pooler
 * lends its sessions by the transaction (exit 1).
 */
export async function openPostgres(options: PostgresOptions): Promise<PostgresDatastore> {
  const names = createStatementNames()
  const scope = createTransactionScope()
  const sessions = POOLS.map((name) =>
    createPgPool({
      url: options.url,
      name,
      size: options.pools?.[name] ?? SIZES[name],
      statementDeadlineMs: options.statementDeadlinesMs?.[name] ?? STATEMENT_DEADLINES_MS[name],
      acquireDeadlineMs: options.acquireDeadlineMs ?? ACQUIRE_DEADLINE_MS,
      names,
      onIdleError: (error) => options.warn('an idle datastore connection was lost', error),
    }),
  )
  const [interactive, worker, bulk] = sessions.map(
    (pool) => new Kysely<Tables>({ dialect: createDialect(pool, scope) }),
  ) as [Db, Db, Db]
  const pools: Record<Pool, Db> = { interactive, worker, bulk }
  const pool = (name: Pool): Db => pools[name]
  let closed: Promise<unknown> | undefined
  const close = async () => {
    closed ??= Promise.all(sessions.map((each) => each.close()))
    await closed
  }

  try {
    await assertOwnSessions(options.url)
    await inspectServer(interactive, options.warn)
    await Promise.all(sessions.map((each) => each.warm()))
  } catch (error) {
    await close()
    throw bootErrorOf(error, options.url)
  }
  const datastore: Datastore = {
    kind: 'postgres',
    pool,
    transaction: createTransactions(pool, scope),
    ping: (deadlineMs) => ping(interactive, deadlineMs),
    close,
  }
  const place: SeatPlace = {
    openSeat: (onHint) => openLeaderSeat(options.url, onHint),
    giveHint: createNotifyHints(datastore),
  }
  return { ...datastore, place }
}
