import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STORES } from '../../support/datastores/stores.ts'
import { startLabelTenancy, type LabelTenancy } from '../../support/labels/label-tenancy.ts'
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

  describe.skipIf(store.missing)('with a selector', () => {
    let plane: LabelTenancy
    let domainId: string
    const nodes: Record<string, string> = {}
    beforeAll(async () => {
      plane = await startLabelTenancy(store, ['policies'])
      domainId = await plane.domain()
      await plane.define(`domain:${domainId}`, 'role')
      await plane.define(`domain:${domainId}`, 'stage', { inherit: true })
      const projectId = await plane.project(domainId)
      for (const name of ['web-1', 'web-2', 'db-1', 'db-2'] as const) {
        const id = await plane.node({ domainId, ...(name.endsWith('2') && { projectId }) })
        await plane.label(`node:${id}`, { [`domain:${domainId}/role`]: name.slice(0, -2) })
        nodes[name] = id
      }
      await plane.label(`project:${projectId}`, { [`domain:${domainId}/stage`]: 'prod' })
      const rule = { direction: 'ingress', peers: 'role=web', protocol: 'tcp', ports: ['5432'] }
      const policy = { slug: 'db-in', selector: 'role=db', rules: [rule] }
      const created = await plane.call(plane.root, `POST /v1/domains/${domainId}/policies`, policy)
      expect(created.status, JSON.stringify(created.body)).toBe(201)
    })
    afterAll(() => plane.stop())

    const ask = (selector: string, as = plane.root) =>
      plane.call(as, `GET /v1/domains/${domainId}/policies/graph?selector=${encodeURIComponent(selector)}`)

    it('has only nodes that match, also by labels of their Project, in groups of as many', async () => {
      const { status, body } = await ask('stage=prod')
      expect([status, body]).toEqual([
        200,
        {
          groups: [
            { group: 0, policies: [], node_count: 1, sample: [{ node_id: nodes['web-2'], name: expect.any(String) }] },
            {
              group: 1,
              policies: ['db-in'],
              node_count: 1,
              sample: [{ node_id: nodes['db-2'], name: expect.any(String) }],
            },
          ],
          edges: [
            { from: 0, to: 1, flows: ['tcp 5432'] },
            { from: 1, to: 0, flows: ['any'] },
          ],
          omitted_groups: 0,
        },
      ])
    })

    it('leaves out groups without such a node, and has none where nothing matches', async () => {
      expect((await ask('role=web')).body).toMatchObject({
        groups: [{ group: 0, policies: [], node_count: 2 }],
        edges: [{ from: 0, to: 0, flows: ['any'] }],
        omitted_groups: 0,
      })
      expect((await ask('role=cache')).body).toEqual({ groups: [], edges: [], omitted_groups: 0 })
      expect((await ask('*')).body).toMatchObject({ groups: [{ node_count: 2 }, { node_count: 2 }] })
    })

    it('refuses one that cannot be read, with the place of each error in bytes', async () => {
      expect((await ask('role="é",nosuch,role=(')).body).toMatchObject({
        status: 400,
        code: 'invalid_selector',
        errors: [
          { offset: 10, length: 6, code: 'unknown_key' },
          { offset: 22, length: 1, code: 'unexpected_token' },
        ],
      })
      expect((await ask('')).body).toMatchObject({ code: 'invalid_selector', errors: [{ offset: 0, code: 'empty' }] })
    })

    it('takes a key of a Definition that the caller does not know of as an unknown one', async () => {
      await plane.define('platform', 'secret')
      const viewer = await plane.holder(domainId, 'viewer', `domain:${domainId}`)
      expect((await ask('secret=x', viewer)).body).toMatchObject({
        code: 'invalid_selector',
        errors: [{ offset: 0, length: 6, code: 'unknown_key' }],
      })
      expect((await ask('role=web', viewer)).status).toBe(200)
      expect((await ask('secret=x')).status).toBe(200)
    })
  })
})
