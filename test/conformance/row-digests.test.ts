import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { STORES, useDatastore } from '../support/datastores/stores.ts'
import { createRowDigests } from './row-digests.ts'

describe.each(STORES)('the digest of rows on the $name datastore', (store) => {
  describe.skipIf(store.missing)('', () => {
    const { current } = useDatastore(store)

    it('tells a row that was added, changed or deleted, by its table', async () => {
      const db = current().pool('bulk')
      const rowDigests = createRowDigests(current())
      const run = async (text: string) => {
        const before = await rowDigests()
        await sql.raw(text).execute(db)
        const after = await rowDigests()
        return Object.keys(after).filter((table) => after[table] !== before[table])
      }
      await sql.raw('create table digested (id int, name text, last_used_at int)').execute(db)
      expect(await run("insert into digested values (1, 'a', 1)")).toEqual(['digested'])
      expect(await run("update digested set name = 'b'")).toEqual(['digested'])
      expect(await run("update digested set name = 'a'")).toEqual(['digested'])
      expect(await run('update digested set last_used_at = 2')).toEqual([])
      expect(await run('update authz_head set revision = revision + 1')).toEqual(['authz_head'])
      expect(await run('delete from digested')).toEqual(['digested'])
      expect(await run("insert into digested values (1, 'a', 1)")).toEqual(['digested'])
      expect(await rowDigests()).toEqual(await createRowDigests(current())())
    })
  })
})
