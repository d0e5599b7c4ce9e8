import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STORES } from '../../support/datastores/stores.ts'
import { startPolicedFleet, type PolicedFleet } from '../../support/fleet/policed-fleet.ts'

describe.each(STORES)('A test that a preview finds broken on the $name store', (store) => {
  describe.skipIf(store.missing)('is explained by the policies as they would be:', () => {
    let fleet: PolicedFleet
    let domainId: string
    let ids: Readonly<Record<'web' | 'db', string>>
    let stored: string
    beforeAll(async () => {
      fleet = await startPolicedFleet(store)
      domainId = await fleet.domain()
      await fleet.define(domainId, 'role')
      const web = await fleet.labelledNode({ domainId }, { role: 'web' })
      ids = { web, db: await fleet.labelledNode({ domainId }, { role: 'db' }) }
      const { id } = await fleet.policy(domainId, { ...closed, tests: [denied] })
      stored = id
    })
    afterAll(() => fleet.stop())

    const closed = { slug: 'db', selector: 'role=db', isolates: ['ingress'], rules: [] }
    const rule = (peers: string, ports: readonly string[]) => ({ direction: 'ingress', peers, protocol: 'tcp', ports })
    const denied = { from: 'role=web', to: 'role=db', protocol: 'tcp', port: 5432, expect: 'denied' }
    const failuresOf = async (...policies: readonly object[]): Promise<unknown> =>
      (await fleet.call(fleet.root, `POST /v1/domains/${domainId}/policies/preview`, { policies })).body['failures']

    it('the rule that accepts at the receiver, of a policy that would be new', async () => {
      const rules = [rule('role=db', ['22']), rule('role=web', ['5432'])]
      expect(await failuresOf({ slug: 'open', selector: '*', isolates: [], rules })).toEqual([
        {
          policy_id: stored,
          policy: 'db',
          test: 0,
          from_node_id: ids.web,
          from: await fleet.nodeName(ids.web),
          to_node_id: ids.db,
          to: await fleet.nodeName(ids.db),
          expect: 'denied',
          egress: { isolated: false, allowed: true },
          ingress: { isolated: true, allowed: true, policy: 'open', rule: 1 },
        },
      ])
    })

    it('the policy that isolates the sender, in place of the one that is stored', async () => {
      const tests = [{ ...denied, expect: 'allowed' }]
      const rules = [rule('role=web', ['5432'])]
      const out = { slug: 'out', selector: 'role=web', isolates: ['egress'], rules: [] }
      expect(await failuresOf({ ...closed, rules, tests }, out)).toMatchObject([
        {
          policy: 'db',
          expect: 'allowed',
          egress: { isolated: true, allowed: false, policy: 'out' },
          ingress: { isolated: true, allowed: true, policy: 'db', policy_id: stored, rule: 0 },
        },
      ])
    })
  })
})
