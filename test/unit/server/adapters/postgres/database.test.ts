import { once } from 'node:events'
import { createServer } from 'node:net'
import { sql } from 'kysely'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openPostgres } from '../../../../../src/server/adapters/postgres/database.ts'
import { refusalOf, type ServerFacts } from '../../../../../src/server/adapters/postgres/inspect-server.ts'
import { type PostgresCluster, startPostgresCluster } from '../../../../support/datastores/postgres-cluster.ts'
import { requirement } from '../../../../support/run/requirements.mjs'

const USABLE: ServerFacts = {
  version_number: 150_000,
  version: '15.0',
  encoding: 'UTF8',
  is_standby: false,
  read_only: 'off',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
}

test('PostgreSQL 15 is the oldest that is used', () => {
  expect(refusalOf(USABLE)).toBeUndefined()
  expect(refusalOf({ ...USABLE, version_number: 140_018, version: '14.18' })).toMatchObject({
    exitCode: 1,
    message: 'PostgreSQL 14.18 is too old: use PostgreSQL 15 or newer.',
  })
})

test('a standby is not used', () => {
  expect(refusalOf({ ...USABLE, is_standby: true })).toMatchObject({
    exitCode: 8,
    message: 'The PostgreSQL server is a standby and takes no writes: point --database-url at the primary.',
  })
})

describe.skipIf(requirement('postgresql') === undefined)('opening PostgreSQL', () => {
  let cluster: PostgresCluster
  const warn = vi.fn()
  beforeAll(async () => {
    cluster = await startPostgresCluster()
  })
  afterAll(() => cluster.stop())

  async function execute(statement: string): Promise<void> {
    const client = new Client({ connectionString: cluster.url })
    await client.connect()
    await client.query(statement)
    await client.end()
  }
  const named = (database: string) => cluster.url.replace(/\w+$/, database)

  test('keeps the minimum of connections of each pool open, and those set aside for nodes, under their names', async () => {
    const url = await cluster.createDatabase()
    const pools = { interactive: { min: 3, max: 5 }, worker: { min: 2, max: 2 }, bulk: { min: 0, max: 1 } }
    const datastore = await openPostgres({ url, pools, warn })
    const { rows } = await sql`
      select application_name as name, count(*)::int as count from pg_stat_activity
      where datname = current_database() group by 1 order by 1`.execute(datastore.pool('interactive'))
    expect(rows).toEqual([
      { name: 'ctl heartbeats', count: 1 },
      { name: 'ctl interactive', count: 1 },
      { name: 'ctl node-keys', count: 1 },
      { name: 'ctl worker', count: 2 },
    ])
    await datastore.close()
    expect(warn).not.toHaveBeenCalled()
  })

  test('never has more connections than the maximum; who gets none in time is told unavailable', async () => {
    const url = await cluster.createDatabase()
    const pools = { bulk: { min: 0, max: 1 } }
    const datastore = await openPostgres({ url, pools, acquireDeadlineMs: 1_000, warn })
    const slow = sql`select pg_sleep(3)`.execute(datastore.pool('bulk'))
    await expect(sql`select 1`.execute(datastore.pool('bulk'))).rejects.toMatchObject({ failure: 'unavailable' })
    await slow
    await datastore.close()
  })

  test('a server with too few free slots is refused in one sentence, and nothing is left open', async () => {
    await execute(`create role narrow login connection limit 3`)
    const url = (await cluster.createDatabase()).replace('postgres@', 'narrow@')
    await expect(openPostgres({ url, warn })).rejects.toMatchObject({
      exitCode: 8,
      message: expect.stringContaining('it has no free connection slot: raise max_connections or lower SERVICE_POOL_*'),
    })
    const client = new Client({ connectionString: cluster.url })
    await client.connect()
    await vi.waitFor(async () => {
      const { rows } = await client.query(`select 1 from pg_stat_activity where usename = 'narrow'`)
      expect(rows).toEqual([])
    })
    await client.end()
  })

  test('a server that stops listening is unavailable, and is used again once it is back', async () => {
    const datastore = await openPostgres({ url: await cluster.createDatabase(), warn: () => undefined })
    const db = datastore.pool('interactive')
    await cluster.end('SIGQUIT')
    await expect(sql`select 1`.execute(db)).rejects.toMatchObject({ failure: 'unavailable' })
    await expect(datastore.transaction('interactive', (tx) => sql`select 1`.execute(tx))).rejects.toMatchObject({
      failure: 'unavailable',
    })
    await cluster.start()
    expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }])
    await datastore.close()
  })

  test('a server that accepts and says nothing is unavailable in time', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const address = silent.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const opening = openPostgres({ url: `postgres://postgres@127.0.0.1:${port}/x`, acquireDeadlineMs: 200, warn })
    await expect(opening).rejects.toMatchObject({
      exitCode: 8,
      message: `PostgreSQL at 127.0.0.1:${port}/x cannot be used: it does not answer: check that it runs and that --database-url is right.`,
    })
    silent.close()
  })

  test('a plan that a migration made stale fails once and is not used again', async () => {
    const datastore = await openPostgres({
      url: await cluster.createDatabase(),
      pools: { interactive: { min: 0, max: 1 } },
      warn,
    })
    const db = datastore.pool('interactive')
    await sql.raw('create table item (id integer)').execute(db)
    const read = () => sql`select * from item where id = ${1}`.execute(db)
    for (let use = 0; use < 3; use++) await read()
    await sql.raw('alter table item add column name text').execute(datastore.pool('worker'))
    await expect(read()).rejects.toMatchObject({ failure: 'unavailable' })
    await expect(read()).resolves.toMatchObject({ rows: [] })
    await datastore.close()
  })

  test.each([
    [
      'a database that does not exist',
      () => named('nowhere'),
      1,
      'the database does not exist: create it with createdb',
    ],
    [
      'a port where nothing listens',
      () => 'postgres://ada:secret@127.0.0.1:1/x',
      8,
      'nothing listens there: start it or check --database-url',
    ],
    [
      'a role that does not exist',
      () => cluster.url.replace('postgres@', 'nobody:secret@'),
      1,
      'it refuses the role: check --database-url and pg_hba.conf',
    ],
  ])('%s is one sentence that says what to do and no secret', async (_, url, exitCode, advice) => {
    const error: unknown = await openPostgres({ url: url(), warn }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'BootError', exitCode })
    const { message } = error as Error
    expect(message).toContain(`cannot be used: ${advice}.`)
    expect(message).not.toMatch(/secret|ada|nobody/)
  })

  test('a database that is not UTF-8 is refused', async () => {
    await execute(`create database ascii encoding 'SQL_ASCII' template template0 locale_provider libc locale 'C'`)
    await expect(openPostgres({ url: named('ascii'), warn })).rejects.toMatchObject({
      exitCode: 1,
      message: "The database is encoded in SQL_ASCII: create one with ENCODING 'UTF8'.",
    })
  })

  test('a database that takes no writes is refused', async () => {
    await execute('create database frozen')
    await execute('alter database frozen set default_transaction_read_only = on')
    await expect(openPostgres({ url: named('frozen'), warn })).rejects.toMatchObject({
      exitCode: 8,
      message: 'The database takes no writes: set default_transaction_read_only to off for this role or database.',
    })
  })

  test('a database whose commits are not durable is used with a warning', async () => {
    await execute('create database hasty')
    await execute('alter database hasty set synchronous_commit = off')
    const datastore = await openPostgres({ url: named('hasty'), warn })
    expect(warn.mock.calls).toEqual([
      ['PostgreSQL runs with synchronous_commit = off: acknowledged writes can be lost when the machine loses power'],
    ])
    await datastore.close()
  })
})
