import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { openPglite } from '../../../../../src/server/adapters/pglite/database.ts'
import { startSpaceGuard } from '../../../../../src/server/adapters/pglite/space-guard.ts'
import { RESERVE_BYTES } from '../../../../../src/server/ports/free-space.ts'
import type { Datastore } from '../../../../../src/server/ports/datastore.ts'

const MIB = 1024 * 1024

let datastore: Datastore
let free: number
beforeAll(async () => {
  datastore = await openPglite({ dataDir: undefined })
  await sql`create table kept (id integer primary key)`.execute(datastore.pool('interactive'))
}, 60_000)
afterAll(() => datastore.close())
beforeEach(() => {
  free = RESERVE_BYTES
})

function guard(freeBytes = async () => free) {
  const warn = vi.fn<(message: string, cause?: unknown) => void>()
  const watching = startSpaceGuard({ db: datastore.pool('worker'), freeBytes, warn })
  const said = () => warn.mock.calls.map(([message]) => message)
  return { ...watching, said }
}
const add = (id: number) => sql`insert into kept values (${id})`.execute(datastore.pool('interactive'))
const count = async () =>
  (await sql<{ rows: number }>`select count(*)::int as rows from kept`.execute(datastore.pool('bulk'))).rows[0]?.rows

test('below the reserve every write is refused, alone or in a transaction, reads go on, and the ping says so', async () => {
  const watching = guard()
  await watching.look()
  await add(1)
  free = RESERVE_BYTES - 1
  await watching.look()
  expect(watching.isReadOnly()).toBe(true)
  await expect(add(2)).rejects.toMatchObject({ name: 'DatastoreError', failure: 'readonly' })
  const changing = datastore.transaction('worker', (tx) => sql`insert into kept values (3)`.execute(tx))
  await expect(changing).rejects.toMatchObject({ failure: 'readonly' })
  await expect(datastore.ping(2_000)).rejects.toMatchObject({ failure: 'readonly' })
  expect(await count()).toBe(1)
  await sql`checkpoint`.execute(datastore.pool('bulk'))

  free = RESERVE_BYTES + 16 * MIB
  await watching.look()
  await add(4)
  await datastore.ping(2_000)
  await watching.stop()
})

test('changes its mind only with room to spare, and says each change once', async () => {
  const watching = guard()
  for (const bytes of [10 * MIB, 5 * MIB, RESERVE_BYTES, RESERVE_BYTES + 15 * MIB]) {
    free = bytes
    await watching.look()
    expect(watching.isReadOnly()).toBe(true)
  }
  free = 100 * MIB
  await watching.look()
  await watching.look()
  expect(watching.said()).toEqual([
    'the disk of the embedded datastore has 10 MiB left: it is read-only until 80 MiB are free',
    'the disk of the embedded datastore has 100 MiB free: it takes writes again',
  ])
  await watching.stop()
})

test('a look that fails is said once and tried again', async () => {
  let isFailing = true
  const watching = guard(async () => {
    if (isFailing) throw new Error('EIO')
    return free
  })
  await watching.look()
  await watching.look()
  isFailing = false
  await watching.look()
  expect(watching.said()).toEqual(['the space left for the embedded datastore could not be watched'])
  expect(watching.isReadOnly()).toBe(false)
  await watching.stop()
})
