import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STORES } from '../../support/datastores/stores.ts'
import { startCapacityReplicas, type CapacityReplicas } from '../../support/server/capacity-replicas.ts'

const NODES = 10_000
/** Far above what a sample takes, so that a slow machine does not fail it: a scan for each node would take longer. */
const MS_MAX = 1_000

describe.each(STORES)('A sample of the capacity on the $name store', (store) => {
  describe.skipIf(store.missing)('of a Domain with 10,000 nodes', () => {
    let world: CapacityReplicas
    let domain: string
    beforeAll(async () => {
      world = await startCapacityReplicas(store)
      domain = await world.domain()
      await world.node({ domainId: domain })
      await sql`
        insert into nodes select (populated).* from (
          select jsonb_populate_record(first, jsonb_build_object(
            'id', gen_random_uuid(), 'name', 'n' || number, 'public_key', '\\x' || lpad(to_hex(number), 64, '0'),
            'mesh_address', host('10.0.0.0'::inet + number)
          )) as populated
          from nodes as first, generate_series(1, ${NODES - 1}) as number where first.domain_id = ${domain}
        ) as made`.execute(world.db)
      await sql`analyze nodes`.execute(world.db)
    }, 120_000)
    afterAll(() => world.stop())

    it('counts all of them within a fraction of the interval', async () => {
      const [replica] = world.replicas
      await replica.collector.sample()
      const took: number[] = []
      for (let run = 0; run < 5; run++) {
        const beganMs = performance.now()
        await replica.collector.sample()
        took.push(performance.now() - beganMs)
      }
      expect(replica.use(domain, 'nodes')?.used).toBe(10_000)
      expect(Math.min(...took)).toBeLessThan(MS_MAX)
    })
  })
})
