import { afterAll, describe, expect, test } from 'vitest'
import { depth } from '../support/run/depth.ts'
import { startPostgresCluster, type PostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { requirement } from '../support/run/requirements.mjs'
import { FLOODS } from './floods/floods.ts'
import { tryFlood } from './floods/trial.ts'

/** What every change is held to takes seconds; a deep run does what `npm run fuzz -- floods` does. */
const PLAN = depth({
  ci: {
    stores: ['embedded'],
    names: ['cookies-50-unread', 'refusals', 'lists-unread', 'held-bodies', 'reports'],
    seconds: 2,
    scale: 0.1,
    settleSeconds: 2,
  },
  deep: {
    stores: ['embedded', 'postgres'],
    names: FLOODS.map(({ name }) => name),
    seconds: 25,
    scale: 1,
    settleSeconds: 20,
  },
})

describe.each(PLAN.stores)('a server on the %s store with default limits', (store) => {
  describe.skipIf(store === 'postgres' && requirement('postgresql') !== undefined)('', () => {
    let cluster: PostgresCluster | undefined
    afterAll(() => cluster?.stop())

    test.each(FLOODS.filter(({ name }) => PLAN.names.includes(name)))(
      'stands the flood $name',
      async (flood) => {
        if (store === 'postgres') cluster ??= await startPostgresCluster()
        const databaseUrl = await cluster?.createDatabase()
        const outcome = await tryFlood(flood, { dist: 'dist', databaseUrl, ...PLAN })
        expect(outcome.faults, JSON.stringify(outcome)).toEqual([])
      },
      600_000,
    )
  })
})
