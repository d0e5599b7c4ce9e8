import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { Pool } from '../../src/server/ports/datastore.ts'
import { POSTGRES, useDatastore } from '../support/datastores/stores.ts'

const POOLS: readonly Pool[] = ['interactive', 'heartbeats', 'node-keys', 'change-feed', 'worker', 'bulk']

describe.skipIf(POSTGRES.missing)('sessions on PostgreSQL', () => {
  const inUse = useDatastore(POSTGRES)

  test.each(POOLS)('of the pool %s read and write values in one form, and compile no statement', async (name) => {
    const { rows } = await sql<{ settings: Readonly<Record<string, string>> }>`
      select json_object_agg(name, setting) as settings from pg_settings
      where name in ('TimeZone', 'DateStyle', 'IntervalStyle', 'jit')`.execute(inUse.current().pool(name))
    expect(rows[0]?.settings).toEqual({
      TimeZone: 'UTC',
      DateStyle: expect.stringContaining('ISO'),
      IntervalStyle: 'postgres',
      jit: 'off',
    })
  })
})
