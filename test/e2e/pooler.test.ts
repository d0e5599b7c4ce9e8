import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { runCtl, startCtl } from '../support/server/ctl-process.ts'
import { startPgBouncer, type PgBouncer } from '../support/datastores/pgbouncer.ts'
import { startPostgresCluster, type PostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { metricOf } from '../support/server/replicas.ts'
import { requirement } from '../support/run/requirements.mjs'

const isMissing = requirement('postgresql') === undefined || requirement('pgbouncer') === undefined
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')

describe.skipIf(isMissing)('a server behind PgBouncer', () => {
  let cluster: PostgresCluster
  let database: string
  let folder: string
  let bouncer: PgBouncer | undefined
  beforeAll(async () => {
    cluster = await startPostgresCluster()
  })
  afterAll(() => cluster?.stop())
  beforeEach(async () => {
    database = await cluster.createDatabase()
    folder = mkdtempSync(join(tmpdir(), 'ctl-pooler-'))
  })
  afterEach(async () => {
    await bouncer?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const options = (url: string) => ({
    args: ['--data-dir', join(folder, 'data')],
    env: { SERVICE_DATABASE_URL: url, SERVICE_MASTER_KEY: MASTER_KEY, SERVICE_OPS_LISTEN: '127.0.0.1:0' },
  })
  const tables = async () => {
    const client = new Client({ connectionString: database })
    await client.connect()
    const { rows } = await client.query("select tablename from pg_tables where schemaname = 'public'")
    await client.end()
    return rows
  }

  test.each([
    ['in transaction mode that hands out the session that came back last', ['default_pool_size = 20']],
    ['in transaction mode that hands out all in turn', ['default_pool_size = 20', 'server_round_robin = 1']],
    ['in transaction mode with a single session', ['default_pool_size = 1']],
    ['in statement mode', ['pool_mode = statement']],
  ])(
    '%s does not start, says what to do, and has made nothing',
    async (_, settings) => {
      bouncer = await startPgBouncer(database, ['pool_mode = transaction', ...settings])
      const { args, env } = options(bouncer.url)
      const { exitCode, stdout, stderr } = await runCtl(['serve', '--listen', '127.0.0.1:0', ...args], env)
      expect(stderr).toBe(
        'ctl serve: A connection pooler in transaction or statement mode is between this server and PostgreSQL: point --database-url at PostgreSQL directly or at a session-mode pool.\n',
      )
      expect([exitCode, stdout, await tables()]).toEqual([1, '', []])
    },
    60_000,
  )

  test('in transaction mode does not start while others use the same pooler', async () => {
    bouncer = await startPgBouncer(database, ['pool_mode = transaction', 'default_pool_size = 20'])
    const others = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const client = new Client({ connectionString: bouncer?.url })
        await client.connect()
        return client
      }),
    )
    const over = new AbortController()
    const noise = others.map(async (client) => {
      while (!over.signal.aborted) await client.query('select 1')
      await client.end()
    })
    const { args, env } = options(bouncer.url)
    const { exitCode, stderr } = await runCtl(['serve', '--listen', '127.0.0.1:0', ...args], env)
    over.abort()
    await Promise.all(noise)
    expect(stderr).toContain('A connection pooler in transaction or statement mode is between')
    expect(exitCode).toBe(1)
  }, 180_000)

  test('in session mode starts, and leads', async () => {
    bouncer = await startPgBouncer(database, ['pool_mode = session', 'default_pool_size = 50'])
    const server = await startCtl(options(bouncer.url))
    await vi.waitFor(async () => expect(await metricOf(server, 'leading')).toBe(1), { timeout: 60_000 })
    expect(await server.end('SIGTERM')).toBe(0)
  }, 180_000)
})
