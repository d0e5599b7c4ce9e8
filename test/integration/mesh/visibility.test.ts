import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { digestEpochs, EDGE_EPOCHS_KEY } from '../../../src/shared/mesh/epoch-digest.ts'
import { formatPskIssuedAt } from '../../../src/shared/mesh/psk-instant.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { startFleet, type Enrolled, type Fleet } from '../../support/fleet/fleet.ts'
import { accepts, isolates, visibilityRows } from '../../support/fleet/visibility-rows.ts'

describe.each(STORES)('Edges of a Domain with peer visibility `reachable` on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: Fleet
    let rows: ReturnType<typeof visibilityRows>
    let domain: string
    let policyId: string
    /** The first two see each other; the third one sees nobody. */
    let nodes: readonly [Enrolled, Enrolled, Enrolled]
    beforeAll(async () => {
      fleet = await startFleet(store, { surfaces: ['mesh', 'meshKeys'] })
      rows = visibilityRows(fleet)
    }, 120_000)
    beforeEach(async () => {
      domain = await fleet.domain()
      policyId = fleet.ids.next()
      nodes = [await fleet.enrol(domain), await fleet.enrol(domain), await fleet.enrol(domain)]
      const rules = [isolates('egress'), isolates('ingress'), accepts('egress', [1]), accepts('ingress', [1])]
      await rows.policy(domain, { id: policyId, rules, nodeIds: nodes.map(({ node_id }) => node_id) })
      for (const node of nodes.slice(0, 2))
        await rows.place(domain, node.node_id, { groups: [1], policyIds: [policyId] })
      await fleet.call(fleet.root, `PATCH /v1/domains/${domain}`, { peer_visibility: 'reachable' })
    }, 180_000)
    afterAll(() => fleet.stop())

    const fetchPsk = async (own: Enrolled, peer: Enrolled) => {
      const response = await fetch(`${fleet.url}/v1/nodes/${own.node_id}/peers/${peer.node_id}/psk`, {
        headers: { authorization: `Bearer ${own.nsk}` },
      })
      const isJson = response.headers.get('content-type')?.includes('json') === true
      return [response.status, isJson ? ((await response.json()) as { code: string }).code : undefined]
    }
    const previewed = async ({ node_id }: Enrolled) =>
      (await fleet.call(fleet.root, `GET /v1/nodes/${node_id}/keys/rotate/preview`)).body
    const topology = async (query = '') =>
      (await fleet.call(fleet.root, `GET /v1/domains/${domain}/mesh/topology${query}`)).body
    const proof = async (node_ids?: readonly string[]) =>
      (await fleet.call(fleet.root, `POST /v1/domains/${domain}/mesh/edge-epochs/verify`, { node_ids })).body

    it('have keys for the nodes at their ends, and for no others of the Domain', async () => {
      const [one, other, alone] = nodes
      expect([await fetchPsk(one, other), await fetchPsk(other, one)]).toEqual([
        [200, undefined],
        [200, undefined],
      ])
      expect(await fetchPsk(one, alone)).toEqual([404, 'peer_not_found'])
      expect(await fetchPsk(alone, one)).toEqual([404, 'peer_not_found'])
      expect(await fetchPsk(one, one)).toEqual([400, 'same_peer'])
      // At once, on the replica that has cached who sees whom.
      await rows.place(domain, alone.node_id, { groups: [1], policyIds: [policyId] })
      expect(await fetchPsk(alone, one)).toEqual([200, undefined])
      await rows.place(domain, one.node_id, { groups: [], policyIds: [policyId] })
      expect(await fetchPsk(alone, one)).toEqual([404, 'peer_not_found'])
      await fleet.call(fleet.root, `PATCH /v1/domains/${domain}`, { peer_visibility: 'all' })
      expect(await fetchPsk(alone, one)).toEqual([200, undefined])
    })

    it('are those that a rotation is previewed with', async () => {
      const [one, other, alone] = nodes
      expect(await previewed(one)).toMatchObject({
        edges: [{ peer_node_id: other.node_id, mode: 'direct' }],
        edge_count: 1,
      })
      expect(await previewed(alone)).toMatchObject({ edges: [], edge_count: 0, estimated_duration_seconds: 1 })
    })

    it('are those of a topology, which shows the nodes at the ends of the edges of one node', async () => {
      const [one, other, alone] = nodes
      const idsOf = (body: Awaited<ReturnType<typeof topology>>) =>
        (body['nodes'] as readonly { node_id: string }[]).map(({ node_id }) => node_id)
      const edge = (from: Enrolled, to: Enrolled) => ({
        from: from.node_id,
        to: to.node_id,
        mode: 'direct',
        path: null,
      })
      const ofOne = await topology(`?node_id=${one.node_id}`)
      expect([idsOf(ofOne), ofOne['edges']]).toEqual([[one, other].map(({ node_id }) => node_id), [edge(one, other)]])
      const ofNobody = await topology(`?node_id=${alone.node_id}`)
      expect([idsOf(ofNobody), ofNobody['edges']]).toEqual([[alone.node_id], []])
      const whole = await topology()
      expect([idsOf(whole).length, whole['edges']]).toEqual([3, [edge(one, other), edge(other, one)]])
    })

    it('are those whose epochs are proved', async () => {
      const stored = await fleet.db
        .selectFrom('nodes')
        .select(['id', 'psk_issued_at'])
        .where('domain_id', '=', domain)
        .execute()
      const issued = new Map(stored.map(({ id, psk_issued_at: ns }) => [id, formatPskIssuedAt(BigInt(ns))]))
      const report = async (node: Enrolled, ...peers: readonly Enrolled[]) => {
        const epochs = peers.map(
          ({ node_id }) => [node_id, `${issued.get(node.node_id) ?? ''}|${issued.get(node_id) ?? ''}`] as const,
        )
        await fleet.db
          .insertInto('node_state_reports')
          .values({
            node_id: node.node_id,
            key: EDGE_EPOCHS_KEY,
            value: JSON.stringify(digestEpochs(new Map(epochs))),
            updated_at: new Date(fleet.clock.nowMs),
          })
          .execute()
      }
      const [one, other, alone] = nodes
      await report(one, other)
      await report(other, one, alone)
      await report(alone)
      expect(await proof()).toEqual({
        nodes_checked: 3,
        edges_checked: 2,
        agreeing: 2,
        disagreeing: [{ node_id: other.node_id, reason: 'count_differs', edges_reported: 2, edges_expected: 1 }],
      })
      expect(await proof([one.node_id])).toMatchObject({ nodes_checked: 1, edges_checked: 1, agreeing: 1 })
      await fleet.db
        .updateTable('nodes')
        .set((on) => ({ psk_issued_at: on('psk_issued_at', '+', '1') }))
        .where('id', '=', other.node_id)
        .execute()
      expect(await proof([one.node_id])).toMatchObject({ disagreeing: [{ reason: 'epochs_differ' }] })
    })
  })
})
