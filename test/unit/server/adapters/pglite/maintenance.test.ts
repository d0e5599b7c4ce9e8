import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EmbeddedDatastore, openPglite } from '../../../../../src/server/adapters/pglite/database.ts'
import { createChores } from '../../../../../src/server/adapters/pglite/maintenance.ts'

const MINUTE_MS = 60_000

let datastore: EmbeddedDatastore
let nowMs = 0
beforeAll(async () => {
  datastore = await openPglite({ dataDir: undefined })
})
afterAll(() => datastore.close())

const chores = () => createChores({ datastore, monotonicMs: () => nowMs, rest: async () => undefined })
const run = (statement: string) => sql.raw(statement).execute(datastore.pool('bulk'))

test('a checkpoint is due after five minutes in which something was written', async () => {
  const { checkpointWhenDue } = chores()
  nowMs += 5 * MINUTE_MS
  await run('create table small (id integer)')
  expect(await checkpointWhenDue()).toBe(true)
  nowMs += 4 * MINUTE_MS
  await run('insert into small values (1)')
  expect(await checkpointWhenDue()).toBe(false)
  nowMs += MINUTE_MS
  expect(await checkpointWhenDue()).toBe(true)
  nowMs += 10 * MINUTE_MS
  expect(await checkpointWhenDue()).toBe(false)
})

test('a checkpoint is due at once when 64 MiB of log were written', async () => {
  const { checkpointWhenDue } = chores()
  await checkpointWhenDue()
  await run('create table large (text text)')
  expect(await checkpointWhenDue()).toBe(false)
  await run(`insert into large select repeat(md5(n::text), 30) from generate_series(1, 90000) as n`)
  expect(await checkpointWhenDue()).toBe(true)
  expect(await checkpointWhenDue()).toBe(false)
})

test('only tables that changed enough are vacuumed and analysed', async () => {
  await run('create table busy (id integer); create table idle (id integer)')
  await run('insert into idle select generate_series(1, 400)')
  await run('insert into busy select generate_series(1, 600)')
  await run('select pg_stat_force_next_flush()')
  const { vacuumWhatChanged } = chores()
  const names = await vacuumWhatChanged()
  expect(names).toContain('busy')
  expect(names).not.toContain('idle')
  expect(await vacuumWhatChanged()).not.toContain('busy')
  const { rows } = await sql<{ analysed: boolean }>`
    select last_analyze is not null and last_vacuum is not null as analysed
    from pg_stat_user_tables where relname = 'busy'`.execute(datastore.pool('bulk'))
  expect(rows).toEqual([{ analysed: true }])
})

test('after each statement that takes the session others have it for four times as long', async () => {
  await run('create table tired (id integer)')
  await run('insert into tired select generate_series(1, 600)')
  await run('select pg_stat_force_next_flush()')
  const rests: number[] = []
  const slow = createChores({
    datastore,
    monotonicMs: () => (nowMs += 10),
    rest: async (ms) => void rests.push(ms),
  })
  const names = await slow.vacuumWhatChanged()
  expect(names).toContain('tired')
  expect(rests).toEqual(names.flatMap(() => [40, 40]))
})
