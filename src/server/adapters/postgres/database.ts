import { Kysely } from 'kysely'
import type { Datastore, Db, Pool, SizedPool } from '../../ports/datastore.ts'
import type { Tables } from '../../ports/tables/tables.ts'
import type { SeatPlace } from '../../ports/leader-seat.ts'
import type { OpenSnapshot } from '../../ports/snapshot.ts'
import { assertOwnSessions } from './assert-own-sessions.ts'
import { STATEMENT_DEADLINES_MS } from './deadlines.ts'
import { createDialect } from './dialect.ts'
import { bootErrorOf, inspectServer } from './inspect-server.ts'
import { createSnapshots } from './open-snapshot.ts'
import { openLeaderSeat } from './leader-seat.ts'
import { createNotifyHints } from './outbox-hints.ts'
import { ping as pingOnce } from './ping.ts'
import { poolSizes } from './pool-sizes.ts'
import { createPgPool, type PgPool, type PoolSize } from './pool.ts'
import { createStatementNames } from './session.ts'
import { createTransactionScope, type TransactionScope } from './transaction-scope.ts'
import { createTransactions } from './transactions.ts'

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string
  /** Sizes where they differ from S1 Limits: interactive 20, worker 10, bulk 5; none kept open when idle. */
  readonly pools?: Partial<Record<SizedPool, PoolSize>>
  /** How long one statement may take per pool, in ms. Default 5,000, 30,000 and 300,000. */
  readonly statementDeadlinesMs?: Partial<Record<Pool, number>>
  /** How long to wait for a connection, in ms. Default 3,000. */
  readonly acquireDeadlineMs?: number
  /** Called with warnings for the operator. */
  readonly warn: (message: string, cause?: unknown) => void
}

/** PostgreSQL with the seat through which a process competes for leadership. */
export interface PostgresDatastore extends Datastore {
  readonly place: SeatPlace
  /** Snapshots for backups. */
  readonly openSnapshot: OpenSnapshot
}

const ACQUIRE_DEADLINE_MS = 3_000

/**
 * Concurrent batches of heartbeats must lock their rows in the order in which they were sent. If the planner assumes a
 * small table, it scans the whole table and locks the rows in their order on disk: replicas that had the same nodes in
 * a batch deadlocked. A separate query that locks the rows, as in other batches, costs a fifth more.
 */
const SETTINGS: Partial<Record<Pool, readonly string[]>> = {
  heartbeats: ['enable_hashjoin = off', 'enable_mergejoin = off', 'enable_seqscan = off'],
}

/**
 * Opens the pools and checks the server: its version, whether it accepts writes, and whether its commits are durable.
 * Creates no tables: see `migrate`.
 * @throws BootError when the server cannot be reached (exit 8), is too old or accepts no writes (exit 1 or 8), or when
 * a pooler lends its sessions for single transactions (exit 1).
 */
export async function openPostgres(options: PostgresOptions): Promise<PostgresDatastore> {
  const scope = createTransactionScope()
  const opened = openPools(options)
  const pool = queriesOver(opened, scope)
  let closed: Promise<unknown> | undefined
  const close = async () => {
    closed ??= Promise.all([...opened.values()].map((each) => each.close()))
    await closed
  }

  try {
    await assertOwnSessions(options.url)
    await inspectServer(pool('interactive'), options.warn)
    await warmAll([...opened.values()])
  } catch (error) {
    await close()
    throw bootErrorOf(error, options.url)
  }
  const ping = (deadlineMs: number): Promise<void> => pingOnce(pool('interactive'), deadlineMs)
  const datastore: Datastore = { kind: 'postgres', pool, transaction: createTransactions(pool, scope), ping, close }
  return { ...datastore, place: placeOf(datastore, options.url), openSnapshot: createSnapshots(options.url) }
}

/** Waits for every pool, so that none is still connecting when a failure closes them. */
async function warmAll(pools: readonly PgPool[]): Promise<void> {
  const warmed = await Promise.allSettled(pools.map((each) => each.warm()))
  for (const each of warmed) if (each.status === 'rejected') throw each.reason
}

/** Pools by name. A pool without connections is omitted. */
function openPools(options: PostgresOptions): ReadonlyMap<Pool, PgPool> {
  const names = createStatementNames()
  const sizes = Object.entries(poolSizes(options.pools)) as [Pool, PoolSize][]
  const open = (name: Pool, size: PoolSize): PgPool =>
    createPgPool({
      url: options.url,
      name,
      size,
      statementDeadlineMs: options.statementDeadlinesMs?.[name] ?? STATEMENT_DEADLINES_MS[name],
      acquireDeadlineMs: options.acquireDeadlineMs ?? ACQUIRE_DEADLINE_MS,
      names,
      settings: SETTINGS[name] ?? [],
      onIdleError: (error) => options.warn('an idle datastore connection was lost', error),
    })
  return new Map(sizes.filter(([, { max }]) => max > 0).map(([name, size]) => [name, open(name, size)]))
}

/** A pool without connections uses those of the pool that it would have taken them from. */
function queriesOver(opened: ReadonlyMap<Pool, PgPool>, scope: TransactionScope): (name: Pool) => Db {
  const open = (sessions: PgPool): Db => new Kysely<Tables>({ dialect: createDialect(sessions, scope) })
  const pools = new Map([...opened].map(([name, sessions]) => [name, open(sessions)]))
  return (name) => {
    const db = pools.get(name) ?? (name === 'change-feed' ? pools.get('worker') : undefined) ?? pools.get('interactive')
    if (db === undefined) throw new Error('the interactive pool has no connections')
    return db
  }
}

function placeOf(datastore: Datastore, url: string): SeatPlace {
  return { openSeat: (onHint) => openLeaderSeat(url, onHint), giveHint: createNotifyHints(datastore) }
}
