import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STORES } from '../../support/datastores/stores.ts'
import { startPolicedFleet, type PolicedFleet } from '../../support/fleet/policed-fleet.ts'

describe.each(STORES)('The graph of policies on the $name store', (store) => {
  describe.skipIf(store.missing)('has groups of nodes that policies treat alike:', () => {
    let fleet: PolicedFleet
    let domainId: string
    let database: string
    beforeAll(async () => {
      fleet = await startPolicedFleet(store)
      domainId = await fleet.domain()
      await fleet.define(domainId, 'role')
      for (const _ of ['one', 'two']) await fleet.labelledNode({ domainId }, { role: 'web' })
      database = await fleet.labelledNode({ domainId }, { role: 'db' })
    })
    afterAll(() => fleet.stop())

    const graph = async () => (await fleet.call(fleet.root, `GET /v1/domains/${domainId}/policies/graph`)).body

    it('one, which reaches itself, while there is no policy', async () => {
      expect(await graph()).toMatchObject({
        groups: [{ group: 0, policies: [], node_count: 3 }],
        edges: [{ from: 0, to: 0, flows: ['any'] }],
        omitted_groups: 0,
      })
    })

    it('the largest first, with the ports that pass both ends', async () => {
      const rule = { direction: 'ingress', peers: 'role=web', protocol: 'tcp', ports: ['22', '5432-5433'] }
      const ping = { direction: 'ingress', peers: 'role=web', protocol: 'icmp' }
      await fleet.policy(domainId, { slug: 'db-in', selector: 'role=db', rules: [rule, ping] })
      const narrow = { direction: 'egress', peers: 'role=db', protocol: 'tcp', ports: ['1-100'] }
      await fleet.policy(domainId, { slug: 'web-out', selector: 'role=web', rules: [narrow] })
      expect(await graph()).toMatchObject({
        groups: [
          { group: 0, policies: ['web-out'], node_count: 2 },
          { group: 1, policies: ['db-in'], node_count: 1, sample: [{ node_id: database }] },
        ],
        edges: [
          { from: 0, to: 1, flows: ['tcp 22'] },
          { from: 1, to: 0, flows: ['any'] },
        ],
      })
    })
  })
})
