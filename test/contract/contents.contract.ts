import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { CONTENTS } from '../../src/server/composition/contents.ts'
import { type TestStore, useDatastore } from '../support/datastores/stores.ts'

const PARENTS = ['domains', 'projects']

/** Whether every child table of a Domain and of a Project is declared. */
export function contentsContract(store: TestStore): void {
  describe.skipIf(store.missing)(`what Domains and Projects contain on the ${store.name} datastore`, () => {
    const inUse = useDatastore(store)

    const foreignKeys = async () => {
      const { rows } = await sql<{ parent: string; child: string }>`
        select confrelid::regclass::text as parent, conrelid::regclass::text as child
        from pg_constraint where contype = 'f' and confrelid::regclass::text = any(${PARENTS}::text[])
      `.execute(inUse.current().pool('interactive'))
      return rows.map(({ parent, child }) => `${parent} <- ${child}`)
    }

    test('is declared once for each foreign key, as content or as an exception', async () => {
      const declared = CONTENTS.map(({ parent, table }) => `${parent} <- ${table}`)
      expect(declared.toSorted()).toEqual((await foreignKeys()).toSorted())
    })
  })
}
