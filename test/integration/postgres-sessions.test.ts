import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { Pool } from '../../src/server/ports/datastore.ts'
import { isDatastoreMissing, useDatastore } from '../support/datastores/datastores.ts'

const POOLS: readonly Pool[] = ['interactive', 'heartbeats', 'node-keys', 'change-feed', 'worker', 'bulk']

describe.skipIf(isDatastoreMissing('postgres'))('sessions on PostgreSQL', () => {
  const store = useDatastore('postgres')

  test.each(POOLS)('of the pool %s read and write values in one form, and compile no statement', async (name) => {
    const { rows } = await sql<{ settings: Readonly<Record<string, string>> }>`
      select json_object_agg(name, setting) as settings from pg_settings
      where name in ('TimeZone', 'DateStyle', 'IntervalStyle', 'jit')`.execute(store.current().pool(name))
    expect(rows[0]?.settings).toEqual({
      TimeZone: 'UTC',
      DateStyle: expect.stringContaining('ISO'),
      IntervalStyle: 'postgres',
      jit: 'off',
    })
  })
})
