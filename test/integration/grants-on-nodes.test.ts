import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFleet, type Enrolled, type Fleet } from '../support/fleet/fleet.ts'
import { STORES } from '../support/datastores/stores.ts'

describe.each(STORES)('Grants on nodes on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: Fleet
    let domain: string
    beforeAll(async () => {
      fleet = await startFleet(store)
      domain = await fleet.domain()
    })
    afterAll(() => fleet.stop())

    const grant = (node: Enrolled, subject: string, relation: string) =>
      fleet.call(fleet.root, `POST /v1/domains/${domain}/grants`, {
        subject,
        relation,
        resource: `node:${node.node_id}`,
      })
    const listed = (query = '') => fleet.call(fleet.root, `GET /v1/domains/${domain}/grants${query}`)
    const rename = (as: string, { node_id }: Enrolled) => fleet.call(as, `PATCH /v1/nodes/${node_id}`, { labels: {} })

    it('gives a role on a node that lies in no Project, shows it apart, and takes it back', async () => {
      const node = await fleet.enrol(domain)
      const operator = await fleet.principal(domain)
      const created = await grant(node, operator, 'operator')
      expect(created).toMatchObject({ status: 201, body: { relation: 'operator', resource: `node:${node.node_id}` } })
      expect((await rename(operator, node)).status).toBe(200)
      expect((await listed(`?resource=node:${node.node_id}`)).body['items']).toEqual([created.body])
      expect((await listed()).body['items']).not.toContainEqual(created.body)
      const path = `/v1/domains/${domain}/grants/${String(created.body['id'])}`
      const elsewhere = await fleet.domain()
      const foreign = await fleet.call(fleet.root, `DELETE ${path.replace(domain, elsewhere)}`)
      expect([foreign.status, foreign.body['code']]).toEqual([404, 'tuple_not_found'])
      expect((await fleet.call(fleet.root, `DELETE ${path}`)).status).toBe(204)
      expect((await rename(operator, node)).status).toBe(403)
    })

    it('takes a cursor only for the list that it was made for', async () => {
      const [node, other] = [await fleet.enrol(domain), await fleet.enrol(domain)]
      for (const of of [node, node, other, other]) await grant(of, await fleet.principal(domain), 'operator')
      const first = await listed(`?limit=1&resource=node:${node.node_id}`)
      const next = `limit=1&cursor=${String(first.body['next_cursor'])}`
      expect((await listed(`?${next}&resource=node:${node.node_id}`)).status).toBe(200)
      const elsewhere = await Promise.all([listed(`?${next}&resource=node:${other.node_id}`), listed(`?${next}`)])
      expect(elsewhere.map(({ status, body }) => [status, body['code']])).toEqual([
        [400, 'invalid_cursor'],
        [400, 'invalid_cursor'],
      ])
    })

    it.each([
      ['a role that a node does not have', 'admin', (node: Enrolled) => node],
      ['a node that there is not', 'operator', (node: Enrolled) => ({ ...node, node_id: domain })],
    ])('refuses %s', async (_what, relation, of) => {
      const node = await fleet.enrol(domain)
      const answer = await grant(of(node), await fleet.principal(domain), relation)
      expect([answer.status, answer.body['code']]).toEqual([400, 'invalid_triple'])
    })

    it('leaves nodes in Projects and in other Domains to others', async () => {
      const project = await fleet.project(domain)
      const inProject = await fleet.enrol(domain, {}, { project_id: project })
      const foreign = await fleet.enrol(await fleet.domain())
      for (const node of [inProject, foreign]) {
        const answer = await grant(node, await fleet.principal(domain), 'operator')
        expect([answer.status, answer.body['part']]).toEqual([400, 'resource'])
      }
    })
  })
})
