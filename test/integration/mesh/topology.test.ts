import { canonicalize } from '../../../src/shared/canonical-json.ts'
import { PATHS_KEY, pathsReport } from '../../../src/shared/mesh/paths-report.ts'
import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startMeshFleet, type MeshFleet } from '../../support/fleet/mesh-fleet.ts'
import { STORES } from '../../support/datastores/stores.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

interface Edge {
  readonly from: string
  readonly to: string
  readonly mode: string
  readonly path: string | null
  readonly relay_node_id?: string
}

describe.each(STORES)('The topology of a mesh on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: MeshFleet
    let domain: string
    beforeAll(async () => {
      fleet = await startMeshFleet(store)
    })
    beforeEach(async () => {
      domain = await fleet.domain()
    })
    afterAll(() => fleet.stop())

    const topology = (query = '', as = fleet.root, of = domain) =>
      fleet.call(as, `GET /v1/domains/${of}/mesh/topology${query}`)
    const edges = async (query = '') => {
      const answer = await topology(query)
      expect(answer).toMatchObject({ status: 200 })
      return answer.body['edges'] as Edge[]
    }

    it('of an empty Domain is empty', async () => {
      expect((await topology()).body).toEqual({ domain_id: domain, nodes: [], edges: [] })
    })

    it('shows nodes by id, with what they are reached by while it is fresh, and is audited on the Domain', async () => {
      const one = await fleet.enrol(domain, { name: 'one', kind: 'vm' })
      const two = await fleet.enrol(domain, { name: 'two', kind: 'bridge' })
      await fleet.beat(two)
      await fleet.endpoint(two.node_id)
      await fleet.endpoint(one.node_id, 'stale')
      const answer = await topology()
      expect(answer.body['nodes']).toEqual([
        {
          node_id: one.node_id,
          display_name: 'one',
          display_kind: 'vm',
          mesh_address: '100.64.0.1',
          reachability: 'never_reported',
          endpoint: '',
        },
        {
          node_id: two.node_id,
          display_name: 'two',
          display_kind: 'bridge',
          mesh_address: '100.64.0.2',
          reachability: 'healthy',
          endpoint: '203.0.113.7:51820',
        },
      ])
      expect(answer.body['edges']).toEqual([
        { from: one.node_id, to: two.node_id, mode: 'direct', path: null },
        { from: two.node_id, to: one.node_id, mode: 'direct', path: null },
      ])
      expect(await fleet.audit(answer)).toMatchObject({
        relation: 'mesh_topology.read',
        object: `domain:${domain}`,
        outcome: 'granted',
      })
    })

    it('relays what has no fresh endpoint, never to or through an end of the edge', async () => {
      const [a = '', b = '', c = '', d = ''] = await fleet.many(domain, 4)
      await fleet.announced([a, b, c, d], 'healthy')
      await fleet.relay(domain, [b, c])
      await fleet.endpoint(a)
      await fleet.choose()
      expect(await edges()).toEqual([
        { from: a, to: b, mode: 'relayed', relay_node_id: c, path: null },
        { from: a, to: c, mode: 'relayed', relay_node_id: b, path: null },
        { from: a, to: d, mode: 'relayed', relay_node_id: b, path: null },
        { from: b, to: a, mode: 'direct', path: null },
        { from: b, to: c, mode: 'direct', path: null },
        { from: b, to: d, mode: 'direct', path: null },
        { from: c, to: a, mode: 'direct', path: null },
        { from: c, to: b, mode: 'direct', path: null },
        { from: c, to: d, mode: 'relayed', relay_node_id: b, path: null },
        { from: d, to: a, mode: 'direct', path: null },
        { from: d, to: b, mode: 'relayed', relay_node_id: c, path: null },
        { from: d, to: c, mode: 'relayed', relay_node_id: b, path: null },
      ])
      expect((await edges(`?node_id=${d}`)).map(({ to }) => to)).toEqual([a, b, c])
    })

    it('does not relay through a node that is gone, before another one is chosen', async () => {
      const enrolled = [await fleet.enrol(domain), await fleet.enrol(domain), await fleet.enrol(domain)]
      const [a = '', b = '', c = ''] = enrolled.map(({ node_id: id }) => id)
      await fleet.announced([a, b, c], 'healthy')
      await fleet.relay(domain, [a, b])
      await fleet.choose()
      expect(await edges(`?node_id=${c}`)).toMatchObject([{ relay_node_id: b }, { relay_node_id: a }])
      expect(await fleet.call(fleet.root, `DELETE /v1/nodes/${a}`)).toMatchObject({ status: 204 })
      expect(await edges(`?node_id=${c}`)).toEqual([{ from: c, to: b, mode: 'direct', path: null }])
    })

    it('is that of a naive computation, over fleets of all kinds', async () => {
      const ids = (await fleet.many(domain, 6)).toSorted()
      const hosts: string[] = []
      for (const id of ids) hosts.push(await fleet.relay(domain, [id]))
      const node = fc.record({
        endpoint: fc.constantFrom('fresh', 'stale'),
        state: fc.constantFrom('healthy', 'stale', 'unreachable', 'never_reported'),
        relays: fc.boolean(),
      })
      await fc.assert(
        fc.asyncProperty(fc.array(node, { minLength: 6, maxLength: 6 }), async (drawn) => {
          for (const [at, { endpoint, state, relays }] of drawn.entries()) {
            await fleet.endpoint(ids[at] ?? '', endpoint)
            await fleet.announced([ids[at] ?? ''], state)
            await fleet.enable(hosts[at] ?? '', relays)
          }
          await fleet.choose()
          const suitable = ids.filter((_, at) => drawn[at]?.relays && ['healthy', 'stale'].includes(drawn[at].state))
          const expected = ids.flatMap((from) =>
            ids.flatMap((to, at) => {
              if (from === to) return []
              const relay = suitable.find((id) => id !== to)
              const isRelayed = drawn[at]?.endpoint !== 'fresh' && relay !== undefined && relay !== from
              return [
                isRelayed
                  ? { from, to, mode: 'relayed', relay_node_id: relay, path: null }
                  : { from, to, mode: 'direct', path: null },
              ]
            }),
          )
          expect(await edges()).toEqual(expected)
          expect(await edges(`?node_id=${ids[2] ?? ''}`)).toEqual(expected.filter(({ from }) => from === ids[2]))
        }),
        { numRuns: 40 },
      )
    }, 180_000)

    it('has the path of each edge as the node at its beginning has reported it, while that node sends heartbeats', async () => {
      const [one, two, three] = [
        await fleet.enrol(domain, { name: 'one' }),
        await fleet.enrol(domain, { name: 'two' }),
        await fleet.enrol(domain, { name: 'three' }),
      ]
      const pathsFrom = async ({ node_id: from }: { readonly node_id: string }) =>
        Object.fromEntries((await edges()).filter((edge) => edge.from === from).map(({ to, path }) => [to, path]))
      const report = async (reported: unknown) => {
        const row = { value: canonicalize(reported), updated_at: new Date(fleet.clock.nowMs) }
        await fleet.db
          .insertInto('node_state_reports')
          .values({ node_id: one.node_id, key: PATHS_KEY, ...row })
          .onConflict((conflict) => conflict.columns(['node_id', 'key']).doUpdateSet(row))
          .execute()
      }
      await report(pathsReport([{ nodeId: two.node_id, relay: '203.0.113.1:51821' }]))
      expect(await pathsFrom(one)).toEqual({ [two.node_id]: null, [three.node_id]: null })
      await fleet.beat(one)
      expect(await pathsFrom(one)).toEqual({ [two.node_id]: 'relayed', [three.node_id]: 'none' })
      expect(await pathsFrom(two)).toEqual({ [one.node_id]: null, [three.node_id]: null })
      await report(pathsReport([two, three].map(({ node_id: nodeId }) => ({ nodeId, relay: undefined }))))
      expect(await pathsFrom(one)).toEqual({ [two.node_id]: 'direct', [three.node_id]: 'direct' })
      await report({ direct: 'all of them' })
      expect(await pathsFrom(one)).toEqual({ [two.node_id]: null, [three.node_id]: null })
    })

    it('is shown whole up to 300 nodes, and of one node at a time beyond', async () => {
      const ids = await fleet.many(domain, 300)
      expect(await edges()).toHaveLength(300 * 299)
      await fleet.many(domain, 1)
      expect(await topology()).toMatchObject({ status: 400, body: { code: 'topology_filter_required' } })
      const one = await topology(`?node_id=${ids[7] ?? ''}`)
      expect([(one.body['nodes'] as unknown[]).length, (one.body['edges'] as unknown[]).length]).toEqual([301, 300])
    }, 180_000)

    it('needs domain-view on the Domain', async () => {
      await fleet.enrol(domain)
      const viewer = await fleet.holder(domain, 'viewer', `domain:${domain}`)
      expect(await topology('', viewer)).toMatchObject({ status: 200 })
      const stranger = await fleet.principal(await fleet.domain())
      const refused = await topology('', stranger)
      expect(refused).toMatchObject({ status: 403 })
      expect(await fleet.audit(refused)).toMatchObject({
        relation: 'mesh_topology.read',
        outcome: 'permission_denied',
      })
      expect(await topology('', (await fleet.enrol(domain)).nsk)).toMatchObject({ status: 401 })
    })

    it('of what is not there is 404, once the gate has been passed', async () => {
      const gone = await fleet.lostDomain()
      expect(await topology('', fleet.root, gone)).toMatchObject({ status: 404, body: { code: 'domain_not_found' } })
      expect(await topology(`?node_id=${NOWHERE}`)).toMatchObject({ status: 404, body: { code: 'node_not_found' } })
      const elsewhere = await fleet.enrol(await fleet.domain())
      expect(await topology(`?node_id=${elsewhere.node_id}`)).toMatchObject({
        status: 404,
        body: { code: 'node_not_found' },
      })
      const stranger = await fleet.principal(domain)
      expect(await topology('', stranger, NOWHERE)).toMatchObject({ status: 403 })
    })

    it.each([
      ['invalid_domain_id', 'x', ''],
      ['invalid_domain_id', '00000000-0000-0000-0000-000000000000', ''],
      ['invalid_node_id', NOWHERE, '?node_id=x'],
      ['invalid_query', NOWHERE, '?nodes=x'],
    ])('answers %s to %s%s', async (code, of, query) => {
      expect(await topology(query, fleet.root, of)).toMatchObject({ status: 400, body: { code } })
    })
  })
})
