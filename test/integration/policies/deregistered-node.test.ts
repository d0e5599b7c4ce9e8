import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pausingDatastore } from '../../support/datastores/pausing-datastore.ts'
import { STORES, type TestStore } from '../../support/datastores/stores.ts'
import { startPolicedFleet, type PolicedFleet } from '../../support/fleet/policed-fleet.ts'
import { meet, places, statementsOf } from '../../support/run/meeting.ts'

describe.each(STORES)('A policy that matches a node which is deregistered meanwhile, on the $name store,', (store) => {
  describe.skipIf(store.missing)('', () => {
    const pausing = pausingDatastore()
    const paused: TestStore = { ...store, open: async (settings) => pausing.over(await store.open(settings)) }
    let fleet: PolicedFleet
    let domainId = ''
    let written = 0
    beforeAll(async () => {
      fleet = await startPolicedFleet(paused, { surfaces: ['nodes'] })
      domainId = await fleet.domain()
      await fleet.define(domainId, 'role')
    })
    afterAll(() => fleet.stop())

    const deregister = (nodeId: string) => fleet.call(fleet.root, `DELETE /v1/nodes/${nodeId}`)
    /** The same length always, so that every write takes as many statements. */
    const slug = () => `policy-${String((written += 1)).padStart(4, '0')}`
    const rules = () => [{ direction: 'ingress', protocol: 'any', peers: '*' }]

    /** Two nodes that the selector matches, of which the first one goes. */
    async function arrange() {
      const role = slug()
      const add = async () => {
        const id = await fleet.labelledNode({ domainId }, { role })
        const tuple = { subject: `domain:${domainId}`, relation: 'domain', resource: `node:${id}` }
        await fleet.change(({ tuples }) => tuples.createStructural(tuple, { domainId, projectId: null }))
        return id
      }
      const nodes = [await add(), await add()] as const
      return { nodes, selector: `role=${role}` }
    }

    async function nodesOf(policyId: unknown): Promise<readonly string[]> {
      const rows = await fleet.db
        .selectFrom('policy_matches')
        .select('node_id')
        .where('policy_id', '=', String(policyId))
        .execute()
      return rows.map(({ node_id }) => node_id)
    }

    const create = (selector: string) =>
      fleet.call(fleet.root, `POST /v1/domains/${domainId}/policies`, { slug: slug(), selector, rules: rules() })

    it('is created, with the nodes that are left', async () => {
      const sample = await arrange()
      const statements = await statementsOf(pausing, () => create(sample.selector))
      for (const behind of places(statements)) {
        const { nodes, selector } = await arrange()
        const [made, gone] = await meet(pausing, behind, {
          first: () => create(selector),
          second: () => deregister(nodes[0]),
        })
        expect([behind, made.status, gone.status]).toEqual([behind, 201, 204])
        expect(await nodesOf(made.body['id'])).toEqual([nodes[1]])
      }
    }, 180_000)

    it('gets another selector, with the nodes that are left', async () => {
      const change = (id: unknown, selector: string) =>
        fleet.call(fleet.root, `PATCH /v1/policies/${String(id)}`, { selector, rules: rules() })
      const sample = await arrange()
      const { body } = await create('role=none')
      const statements = await statementsOf(pausing, () => change(body['id'], sample.selector))
      for (const behind of places(statements)) {
        const { nodes, selector } = await arrange()
        const { id } = (await create('role=none')).body
        const [changed, gone] = await meet(pausing, behind, {
          first: () => change(id, selector),
          second: () => deregister(nodes[0]),
        })
        expect([behind, changed.status, gone.status]).toEqual([behind, 200, 204])
        expect(await nodesOf(id)).toEqual([nodes[1]])
      }
    }, 180_000)
  })
})
