import { sql, type Kysely } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Datastore } from '../../src/server/ports/datastore.ts'
import type { Tables } from '../../src/server/ports/tables/tables.ts'
import { updateIfAsRead, updateIfVersion } from '../../src/server/sql/compare-and-set.ts'
import { type TestStore, useDatastore } from '../support/datastores/stores.ts'
import { gate } from '../support/run/gate.ts'

interface Item {
  readonly id: string
  readonly name: string
  readonly owner: string | null
  readonly row_version: number
}

interface WithItem extends Tables {
  readonly item: Item
}

const CODES = { stale: 'tuple_already_exists', gone: 'tuple_not_found' } as const
const STALE = expect.objectContaining({ code: 'tuple_already_exists' })
const GONE = expect.objectContaining({ code: 'tuple_not_found' })

/** What optimistic concurrency promises on every datastore (`sql/compare-and-set.ts`). */
export function compareAndSetContract(store: TestStore): void {
  describe.skipIf(store.missing)(`compare and set on the ${store.name} datastore`, () => {
    const inUse = useDatastore(store)
    const db = (): Kysely<WithItem> => inUse.current().pool('interactive').withTables<{ item: Item }>()
    const inTransaction = <R>(work: (tx: Kysely<WithItem>) => Promise<R>): ReturnType<Datastore['transaction']> =>
      inUse.current().transaction('interactive', (tx) => work(tx.withTables<{ item: Item }>()))
    const all = (): Promise<readonly Item[]> => db().selectFrom('item').selectAll().orderBy('id').execute()

    beforeEach(async () => {
      await sql
        .raw(
          `drop table if exists item;
           create table item (id text primary key, name text not null, owner text, row_version integer not null);
           insert into item values ('a', 'first', null, 7), ('b', 'second', 'x', 1)`,
        )
        .execute(db())
    })

    const rename = (on: Kysely<WithItem>, version: number, id = 'a') =>
      updateIfVersion(on, 'item', { id, version, set: { name: 'new' }, ...CODES })

    test('a row of the version that was read is changed, its version raised, and no other row', async () => {
      expect(await rename(db(), 7)).toEqual({ id: 'a', name: 'new', owner: null, row_version: 8 })
      expect(await all()).toEqual([
        { id: 'a', name: 'new', owner: null, row_version: 8 },
        { id: 'b', name: 'second', owner: 'x', row_version: 1 },
      ])
    })

    test('a row of another version is stale, and stays', async () => {
      await rename(db(), 7)
      const before = await all()
      await expect(rename(db(), 7)).rejects.toEqual(STALE)
      await expect(rename(db(), 9)).rejects.toEqual(STALE)
      expect(await all()).toEqual(before)
    })

    test('a row that was deleted is gone', async () => {
      await expect(rename(db(), 7, 'c')).rejects.toEqual(GONE)
    })

    test.each([
      ['a value', 'b', { owner: 'x' }],
      ['null', 'a', { owner: null }],
      ['several columns', 'b', { owner: 'x', name: 'second' }],
    ])('a row whose columns are as they were read is changed: %s', async (_, id, asRead) => {
      const changed = await updateIfAsRead(db(), 'item', { id, asRead, set: { owner: 'y' }, ...CODES })
      expect(changed).toMatchObject({ id, owner: 'y' })
    })

    test.each([
      ['a value', 'b', { owner: 'z' }],
      ['null where there is a value', 'b', { owner: null }],
      ['a value where there is null', 'a', { owner: 'x' }],
      ['one of several columns', 'b', { owner: 'x', name: 'other' }],
    ])('a row of which a column is not as it was read is stale, and stays: %s', async (_, id, asRead) => {
      const before = await all()
      await expect(updateIfAsRead(db(), 'item', { id, asRead, set: { owner: 'y' }, ...CODES })).rejects.toEqual(STALE)
      expect(await all()).toEqual(before)
    })

    test('other columns may have changed since', async () => {
      await rename(db(), 7)
      const set = { owner: 'y' }
      const changed = await updateIfAsRead(db(), 'item', { id: 'a', asRead: { owner: null }, set, ...CODES })
      expect(changed).toMatchObject({ name: 'new', owner: 'y' })
    })

    test('a row that was deleted is gone, whatever was read of it', async () => {
      const change = { id: 'c', asRead: { owner: null }, set: { owner: 'y' }, ...CODES }
      await expect(updateIfAsRead(db(), 'item', change)).rejects.toEqual(GONE)
    })

    test('of two transactions that read the same version, the one that writes second is stale', async () => {
      const bothRead = gate()
      let readers = 0
      const write = inTransaction.bind(undefined, async (tx) => {
        const { row_version } = await tx.selectFrom('item').selectAll().where('id', '=', 'a').executeTakeFirstOrThrow()
        readers += 1
        // The embedded store runs one transaction at a time: the second reads what the first wrote.
        if (readers === 2 || store.name === 'embedded') bothRead.open()
        await bothRead.passed
        return rename(tx, row_version)
      })
      const ended = await Promise.allSettled([write(), write()])
      const refused = ended.filter(({ status }) => status === 'rejected')
      expect(refused).toEqual(store.name === 'embedded' ? [] : [{ status: 'rejected', reason: STALE }])
      expect((await all())[0]?.row_version).toBe(store.name === 'embedded' ? 9 : 8)
    })
  })
}
