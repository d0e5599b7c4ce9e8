import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { openPglite, type PgliteOptions } from '../../../../../src/server/adapters/pglite/database.ts'
import { migrate } from '../../../../../src/server/adapters/postgres/migrate.ts'
import type { Datastore } from '../../../../../src/server/ports/datastore.ts'

const counting = new URL('../../../../support/datastores/counting-sync.mjs', import.meta.url)
const DURABLE = PGlite.defaultStartParams.filter((param) => param !== '-F')

let directory: string
let prepared: string
let dataDir: string
let log: string
let diskFails: string
let diskIsFull: string
let syncModule: string

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'ctl-pglite-'))
  prepared = join(directory, 'prepared')
  const datastore = await openPglite({ dataDir: prepared })
  expect(datastore.isNew).toBe(true)
  await migrate(datastore)
  await datastore.close()
}, 60_000)
afterAll(() => rmSync(directory, { recursive: true }))

beforeEach(({ task }) => {
  dataDir = join(directory, task.id)
  log = `${dataDir}.log`
  diskFails = `${dataDir}.fails`
  diskIsFull = `${dataDir}.full`
  syncModule = `${counting.href}?${new URLSearchParams({ log, fail: diskFails, full: diskIsFull }).toString()}`
  cpSync(prepared, dataDir, { recursive: true })
})

const open = (options: Partial<PgliteOptions> = {}) => openPglite({ dataDir, onFailure: () => undefined, ...options })
const add = (datastore: Datastore, keyId: string) =>
  datastore
    .pool('interactive')
    .insertInto('keyring')
    .values({ key_id: keyId, purpose: 'p', sealed: Buffer.alloc(1), created_at: new Date(0), retired_at: null })
    .execute()
const keys = async (datastore: Datastore) =>
  (await datastore.pool('interactive').selectFrom('keyring').select('key_id').orderBy('key_id').execute()).map(
    (row) => row.key_id,
  )
const synced = (part: string) =>
  readFileSync(log, 'utf8')
    .split('\n')
    .filter((path) => path.includes(part)).length

describe('the embedded store on disk', () => {
  test('keeps its rows from one run to the next, and gives the directory back', async () => {
    const first = await open()
    expect([first.isNew, first.isRecovered]).toEqual([false, false])
    await add(first, 'kept')
    expect(readdirSync(dataDir).toSorted()).toEqual(['database', 'lock.1'])
    await first.close()
    expect(readdirSync(dataDir)).toEqual(['database'])
    const second = await open()
    expect(second.isRecovered).toBe(false)
    expect(await keys(second)).toEqual(['kept'])
    await second.close()
  })

  test('syncs its log once for every commit, and every changed file at a checkpoint', async () => {
    const datastore = await open({ engine: { syncModule } })
    const before = synced('/pg_wal/')
    for (let each = 0; each < 50; each++) await add(datastore, `key-${each}`)
    expect(synced('/pg_wal/') - before).toBe(50)
    expect(synced('/base/')).toBe(0)
    await sql`checkpoint`.execute(datastore.pool('bulk'))
    expect(synced('/base/')).toBeGreaterThan(0)
    await datastore.close()
  })

  test('refuses a second process on its directory, which goes on unharmed', async () => {
    const datastore = await open()
    await expect(open()).rejects.toMatchObject({
      name: 'BootError',
      exitCode: 1,
      message: `The data directory ${dataDir} is in use by process ${process.pid}: stop that, or give this server a --data-dir of its own.`,
    })
    await add(datastore, 'still here')
    expect(await keys(datastore)).toEqual(['still here'])
    await datastore.close()
  })

  test('recovers what was acknowledged from a directory that nobody closed', async () => {
    const datastore = await open()
    for (let each = 0; each < 20; each++) await add(datastore, `key-${String(each).padStart(2, '0')}`)
    const image = `${dataDir}-image`
    cpSync(join(dataDir, 'database'), join(image, 'database'), { recursive: true })
    await datastore.close()
    const recovered = await open({ dataDir: image })
    expect(recovered.isRecovered).toBe(true)
    expect(await keys(recovered)).toHaveLength(20)
    await recovered.close()
  })

  test.each([
    ['turns syncs off', [...PGlite.defaultStartParams]],
    ['syncs with a call that the engine does not make', [...DURABLE, '-c', 'wal_sync_method=fdatasync']],
    ['commits without waiting', [...DURABLE, '-c', 'wal_sync_method=fsync', '-c', 'synchronous_commit=off']],
  ])('does not start when its engine %s', async (_, startParams) => {
    await expect(open({ engine: { startParams } })).rejects.toMatchObject({
      name: 'BootError',
      exitCode: 1,
      message: `The embedded datastore in ${dataDir} does not start: a commit was not synced to the disk, so that a power loss could undo it.`,
    })
    expect(readdirSync(dataDir)).toEqual(['database'])
  })

  test('does not start on a disk whose syncs fail', async () => {
    writeFileSync(diskFails, '')
    await expect(open({ engine: { syncModule } })).rejects.toMatchObject({ name: 'BootError', exitCode: 1 })
  })

  test('acknowledges nothing any more once a sync has failed, and says so once', async () => {
    const onFailure = vi.fn()
    const datastore = await open({ engine: { syncModule }, onFailure })
    await add(datastore, 'acknowledged')
    writeFileSync(diskFails, '')
    await expect(add(datastore, 'lost')).rejects.toMatchObject({ name: 'DatastoreError', failure: 'unavailable' })
    rmSync(diskFails)
    await expect(keys(datastore)).rejects.toMatchObject({ failure: 'unavailable' })
    await expect(datastore.transaction('worker', async () => undefined)).rejects.toMatchObject({
      failure: 'unavailable',
    })
    expect(onFailure.mock.calls).toHaveLength(1)
    expect(String(onFailure.mock.calls[0])).toMatch(
      /the embedded datastore stopped \(fsync of .*pg_wal.* failed: EIO: i\/o error, fsync\); start the server again: it recovers from its log/,
    )
    await datastore.close()
    const again = await open()
    expect(again.isRecovered).toBe(true)
    expect(await keys(again)).toContain('acknowledged')
    await again.close()
  })

  test('stops on a full disk with its reason, and has every acknowledged row once there is room', async () => {
    const onFailure = vi.fn()
    const datastore = await open({ engine: { syncModule }, onFailure })
    await add(datastore, 'acknowledged')
    writeFileSync(diskIsFull, '')
    await expect(add(datastore, 'lost')).rejects.toMatchObject({ failure: 'unavailable' })
    expect(String(onFailure.mock.calls[0])).toContain('No space left on device')
    await datastore.close()
    await expect(open({ engine: { syncModule } })).rejects.toMatchObject({
      name: 'BootError',
      exitCode: 1,
      message: `The data directory ${dataDir} has no space left: free some, then start again.`,
    })
    rmSync(diskIsFull)
    const again = await open()
    expect(await keys(again)).toContain('acknowledged')
    await again.close()
  })
})

test('the store in memory leaves no file and is gone at its end', async () => {
  const before = readdirSync(directory)
  const datastore = await openPglite({ dataDir: undefined })
  await migrate(datastore)
  await add(datastore, 'gone')
  expect(await keys(datastore)).toEqual(['gone'])
  await datastore.close()
  expect(readdirSync(directory)).toEqual(before)
  expect([datastore.isNew, datastore.isRecovered]).toEqual([true, false])
})
