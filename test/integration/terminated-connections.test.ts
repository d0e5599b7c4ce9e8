import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import pg from 'pg'
import { createPgPool } from '../../src/server/adapters/postgres/pool.ts'
import { createStatementNames } from '../../src/server/adapters/postgres/session.ts'
import { DatastoreError } from '../../src/server/ports/datastore.ts'
import { depth } from '../support/depth.ts'
import { startPostgresCluster, type PostgresCluster } from '../support/postgres-cluster.ts'
import { requirement } from '../support/requirements.mjs'

const ROUNDS = depth({ ci: 40, deep: 400 })
const CALLERS = 8

describe.skipIf(requirement('postgresql') === undefined)('connections that the server ends', () => {
  let cluster: PostgresCluster
  beforeAll(async () => {
    cluster = await startPostgresCluster()
  })
  afterAll(() => cluster.stop())

  // An event that nobody listens to ends the process, and fails this run: while a connection is set up, while a
  // statement is under way, when it lies idle, and when it is given back for good.
  test('fail what runs on them, at whatever moment they end, and nothing else', async () => {
    const executioner = new pg.Client({ connectionString: cluster.url })
    await executioner.connect()
    const pool = createPgPool({
      url: cluster.url,
      name: 'interactive',
      size: { min: 0, max: CALLERS },
      statementDeadlineMs: 5_000,
      acquireDeadlineMs: 3_000,
      names: createStatementNames(),
      onIdleError: () => undefined,
    })
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
    await call()
    expect(answered).toBeGreaterThan(0)
    await pool.close()
    await executioner.end()
  })
})
