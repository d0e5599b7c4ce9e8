import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import pg from 'pg'
import { createPgPool, type PgPool, type PoolSize } from '../../src/server/adapters/postgres/pool.ts'
import { createStatementNames } from '../../src/server/adapters/postgres/session.ts'
import { DatastoreError } from '../../src/server/ports/datastore.ts'
import { depth } from '../support/run/depth.ts'
import { startPostgresCluster, type PostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { requirement } from '../support/run/requirements.mjs'

const ROUNDS = depth({ ci: 40, deep: 400 })
const CALLERS = 8
const WAIT = { timeout: 10_000, interval: 50 }

describe.skipIf(requirement('postgresql') === undefined)('connections that the server ends', () => {
  let cluster: PostgresCluster
  beforeAll(async () => {
    cluster = await startPostgresCluster()
  })
  afterAll(() => cluster.stop())
  const poolOf = (name: string, size: PoolSize): PgPool =>
    createPgPool({
      url: cluster.url,
      name,
      size,
      statementDeadlineMs: 5_000,
      acquireDeadlineMs: 3_000,
      names: createStatementNames(),
      onIdleError: () => undefined,
    })

  // An event that nobody listens to ends the process, and fails this run: while a connection is set up, while a
  // statement is under way, when it lies idle, and when it is given back for good.
  test('fail what runs on them, at whatever moment they end, and nothing else', async () => {
    const executioner = new pg.Client({ connectionString: cluster.url })
    await executioner.connect()
    const pool = poolOf('interactive', { min: 0, max: CALLERS })
    const ending = new AbortController()
    const failures: unknown[] = []
    let answered = 0
    const call = async (): Promise<void> => {
      const session = await pool.acquire()
      try {
        await session.query('select 1', [])
        answered += 1
      } finally {
        pool.release(session)
      }
    }
    const callers = Array.from({ length: CALLERS }, async () => {
      while (!ending.signal.aborted) await call().catch((error: unknown) => failures.push(error))
    })
    try {
      for (let round = 0; round < ROUNDS; round++) {
        await executioner.query(
          'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname is not null',
        )
        await new Promise((resolve) => setTimeout(resolve, round % 7))
      }
    } finally {
      ending.abort()
    }
    await Promise.all(callers)
    expect(failures.length).toBeGreaterThan(0)
    expect(failures.filter((error) => !(error instanceof DatastoreError && error.failure === 'unavailable'))).toEqual(
      [],
    )
    // The last connection that was ended may be noticed by the first call after it.
    await vi.waitFor(call, WAIT)
    expect(answered).toBeGreaterThan(0)
    await pool.close()
    await executioner.end()
  })

  test('are opened again before they are needed where some are to be kept open, until the pool closes', async () => {
    const executioner = new pg.Client({ connectionString: cluster.url })
    await executioner.connect()
    const pool = poolOf('heartbeats', { min: 2, max: 2 })
    const open = async (): Promise<number[]> => {
      const lane = `select pid from pg_stat_activity where application_name = 'ctl heartbeats' order by pid`
      return (await executioner.query<{ pid: number }>(lane)).rows.map(({ pid }) => pid)
    }
    const end = (pids: readonly number[]) => executioner.query('select pg_terminate_backend(unnest($1::int[]))', [pids])
    await pool.warm()
    const [one, ...others] = await open()
    expect(others).toHaveLength(1)
    await end([one ?? 0])
    await vi.waitFor(async () => {
      const now = await open()
      expect(now).toHaveLength(2)
      expect(now).toEqual(expect.arrayContaining(others))
      expect(now).not.toContain(one)
    }, WAIT)

    await end(await open())
    await vi.waitFor(async () => expect(await open()).toHaveLength(2), WAIT)

    await end(await open())
    await pool.close()
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(await open()).toEqual([])
    await executioner.end()
  }, 180_000)
})
