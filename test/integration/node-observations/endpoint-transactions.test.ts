import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Enrolled } from '../../support/fleet/fleet.ts'
import { startObservedFleet, type ObservedFleet } from '../../support/fleet/observed-fleet.ts'
import { STORES } from '../../support/datastores/stores.ts'

// S0 Events: the news is appended in the transaction of the change, so that without it there is no change either.
describe.each(STORES)('A change of an endpoint of which its peers cannot be told, on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let fleet: ObservedFleet
    let domain: string
    let node: Enrolled
    let before: readonly unknown[]
    beforeAll(async () => {
      fleet = await startObservedFleet(store)
    })
    beforeEach(async () => {
      await fleet.db.deleteFrom('nodes').execute()
      domain = await fleet.domain()
      node = await fleet.enrol(domain)
      await fleet.endpoint(node, '198.51.100.7:51820')
      await fleet.db.deleteFrom('outbox').execute()
      before = await look()
      await sql`
        alter table outbox add constraint untold check (event <> 'peer_endpoint_changed')`.execute(fleet.db)
    })
    afterEach(() => tellAgain())
    afterAll(() => fleet.stop())

    const look = async () => [await fleet.storedEndpoint(node.node_id), await fleet.revision(domain)]
    const tellAgain = () => sql`alter table outbox drop constraint if exists untold`.execute(fleet.db)
    const news = async () => (await fleet.endpointNews()).map(({ payload }) => payload)

    it('is not stored when a node reports it, and is when it reports it again', async () => {
      fleet.wait(1_000)
      expect(await fleet.endpoint(node, '198.51.100.8:51820')).toMatchObject({ status: 500 })
      expect(await look()).toEqual(before)
      await tellAgain()
      expect(await fleet.endpoint(node, '198.51.100.8:51820')).toMatchObject({ status: 200 })
      expect(await news()).toEqual([{ node_id: node.node_id, endpoint: '198.51.100.8:51820' }])
    })

    it('leaves no row that says it was granted, and then one with the change', async () => {
      const granted = () =>
        fleet.db.selectFrom('audit').select('object').where('relation', '=', 'node_endpoint.record').execute()
      await fleet.db.deleteFrom('audit').execute()
      fleet.wait(1_000)
      const refused = await fleet.endpoint(node, '198.51.100.8:51820')
      expect(await granted()).toEqual([])
      expect(await fleet.audit(refused)).toMatchObject({ relation: 'node_endpoint.record', outcome: 'internal_error' })
      await tellAgain()
      await fleet.endpoint(node, '198.51.100.8:51820')
      expect(await granted()).toEqual([{ object: `node:${node.node_id}` }])
    })

    it('is not stored when it is found stale, and is when it is found again', async () => {
      fleet.wait(300_001)
      await expect(fleet.sweep()).rejects.toThrow()
      expect(await look()).toEqual(before)
      await tellAgain()
      await fleet.sweep()
      expect(await news()).toEqual([{ node_id: node.node_id, endpoint: '' }])
    })
  })
})
