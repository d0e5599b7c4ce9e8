import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseNsk } from '../../../src/shared/credential-formats.ts'
import { openEdgeEnvelope } from '../../../src/shared/mesh/edge-envelope.ts'
import { startKeyedFleet, type EdgeKey, type Keyed, type KeyedFleet } from '../../support/fleet/keyed-fleet.ts'
import type { Enrolled } from '../../support/fleet/fleet.ts'
import { accepts, isolates, visibilityRows } from '../../support/fleet/visibility-rows.ts'
import { STORES } from '../../support/datastores/stores.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

interface Sealed {
  readonly peer_node_id: string
  readonly epoch: string
  readonly envelope: string
}

describe.each(STORES)('Keys of several edges on the $name store', (store) => {
  describe.skipIf(store.missing)('fetched in one call', () => {
    let fleet: KeyedFleet
    let rows: ReturnType<typeof visibilityRows>
    let domain: string
    let nodes: readonly Enrolled[]
    let [one, two, three, four]: [Enrolled, Enrolled, Enrolled, Enrolled] = [] as never
    beforeAll(async () => {
      fleet = await startKeyedFleet(store)
      rows = visibilityRows(fleet)
    }, 120_000)
    beforeEach(async () => {
      domain = await fleet.domain()
      const enrolled: Enrolled[] = []
      for (let count = 0; count < 4; count++) {
        enrolled.push(await fleet.enrol(domain))
        fleet.wait(1_000)
      }
      nodes = enrolled
      ;[one, two, three, four] = nodes as [Enrolled, Enrolled, Enrolled, Enrolled]
    }, 180_000)
    afterAll(() => fleet?.stop())

    const fetchAll = (node: Keyed, peers: readonly unknown[], id = node.node_id) =>
      fleet.call(node.nsk, `POST /v1/nodes/${id}/peers/psk`, { peer_node_ids: peers })
    const idsOf = (enrolled: readonly Enrolled[]) => enrolled.map(({ node_id }) => node_id)
    const sealedOf = (body: Readonly<Record<string, unknown>>) => body['envelopes'] as readonly Sealed[]
    const namedIn = (body: Readonly<Record<string, unknown>>) => sealedOf(body).map(({ peer_node_id }) => peer_node_id)

    /** The keys of the edges, opened as an agent would, by peer. */
    async function keysOf(node: Keyed, peers: readonly string[]): Promise<ReadonlyMap<string, EdgeKey>> {
      const { status, body } = await fetchAll(node, peers)
      expect(status).toBe(200)
      const key = parseNsk(node.nsk)?.key ?? new Uint8Array()
      return new Map(
        sealedOf(body).map(({ peer_node_id, epoch, envelope }) => {
          const bytes = new Uint8Array(Buffer.from(envelope, 'base64'))
          expect(bytes.length).toBe(60)
          const place = { nodeId: node.node_id, peerNodeId: peer_node_id, epoch }
          const opened = openEdgeEnvelope(bytes, key, place)
          if (!opened.ok) throw new Error(`the envelope does not open: ${opened.fault}`)
          return [
            peer_node_id,
            { kid: String(body['kid']), epoch, keyHex: Buffer.from(opened.edgeKey).toString('hex') },
          ]
        }),
      )
    }

    /** Asserts that every pair of the nodes gets in one call what it gets edge by edge. */
    async function expectAgreement(among: readonly Keyed[]): Promise<void> {
      for (const node of among) {
        const peers = among.map(({ node_id }) => node_id).filter((peerId) => peerId !== node.node_id)
        const keys = await keysOf(node, peers)
        expect([...keys.keys()]).toEqual(peers)
        for (const peerId of peers) expect(keys.get(peerId)).toEqual(await fleet.edgeKey(node, peerId))
      }
    }

    it('are those that every pair gets edge by edge, with the same key id and epoch', async () => {
      await expectAgreement(nodes)
    })

    it('are the new ones after a rotation of one end, also where it comes between two calls', async () => {
      const before = await keysOf(one, idsOf([two, three]))
      await fleet.rotate(two.node_id)
      await fleet.complete(two)
      const after = await keysOf(one, idsOf([two, three]))
      expect(after.get(two.node_id)).not.toEqual(before.get(two.node_id))
      expect(after.get(three.node_id)).toEqual(before.get(three.node_id))
      await expectAgreement(nodes)
    })

    it('come in the order of the request, and no cache may store them', async () => {
      const answer = await fetchAll(one, idsOf([four, two, three]))
      expect(namedIn(answer.body)).toEqual(idsOf([four, two, three]))
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(answer.body['kid']).toBe(parseNsk(one.nsk)?.kid)
    })

    it('are sealed with a nonce each', async () => {
      const sealed = sealedOf((await fetchAll(one, idsOf([two, three, four]))).body)
      expect(new Set(sealed.map(({ envelope }) => envelope.slice(0, 16))).size).toBe(3)
    })

    it('leave out nodes that are not there, are gone or are of another Domain', async () => {
      const foreign = await fleet.enrol(await fleet.domain())
      await fleet.call(fleet.root, `DELETE /v1/nodes/${three.node_id}`)
      const asked = [NOWHERE, ...idsOf([foreign, three, two])]
      expect(namedIn((await fetchAll(one, asked)).body)).toEqual([two.node_id])
      expect(await fetchAll(one, [NOWHERE])).toMatchObject({ status: 200, body: { envelopes: [] } })
    })

    it('leave out nodes that the caller does not see', async () => {
      const id = fleet.ids.next()
      const rules = [isolates('egress'), isolates('ingress'), accepts('egress', [1]), accepts('ingress', [1])]
      await rows.policy(domain, { id, rules, nodeIds: idsOf(nodes) })
      for (const { node_id } of [one, two, four]) await rows.place(domain, node_id, { groups: [1], policyIds: [id] })
      await fleet.call(fleet.root, `PATCH /v1/domains/${domain}`, { peer_visibility: 'reachable' })
      expect(namedIn((await fetchAll(one, idsOf([three, four, two]))).body)).toEqual(idsOf([four, two]))
      expect(namedIn((await fetchAll(three, idsOf([one, two, four]))).body)).toEqual([])
      await expectAgreement([one, two, four])
      await rows.place(domain, three.node_id, { groups: [1], policyIds: [id] })
      expect(namedIn((await fetchAll(three, idsOf([one]))).body)).toEqual([one.node_id])
    })

    it('are at most 256', async () => {
      const many = Array.from({ length: 256 }, () => fleet.ids.next())
      expect(await fetchAll(one, [...many.slice(1), two.node_id])).toMatchObject({
        status: 200,
        body: { envelopes: [{ peer_node_id: two.node_id }] },
      })
      expect(await fetchAll(one, [...many, two.node_id])).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
    })

    it.each([
      ['no peer', () => [], 'invalid_body'],
      ['a peer twice', () => [two.node_id, two.node_id.toUpperCase()], 'invalid_body'],
      ['what is no id', () => ['web-1'], 'invalid_body'],
      ['itself', () => [two.node_id, one.node_id], 'same_peer'],
      ['itself in capitals', () => [one.node_id.toUpperCase()], 'same_peer'],
    ])('are refused as a whole to a node that names %s', async (_, peers, code) => {
      expect(await fetchAll(one, peers())).toMatchObject({ status: 400, body: { code } })
    })

    it('are refused to another node, to a revoked key, to a node that is gone and to operators', async () => {
      expect(await fetchAll(two, [three.node_id], one.node_id)).toMatchObject({
        status: 403,
        body: { code: 'node_id_mismatch' },
      })
      await fleet.call(fleet.root, `POST /v1/nodes/${one.node_id}/nsk/revoke`)
      expect(await fetchAll(one, [two.node_id])).toMatchObject({ status: 401, body: { code: 'nsk_revoked' } })
      await fleet.call(fleet.root, `DELETE /v1/nodes/${two.node_id}`)
      for (const node of [two, { ...three, nsk: fleet.root }])
        expect(await fetchAll(node, [four.node_id])).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
    })

    it('are audited once for a call', async () => {
      const granted = await fetchAll(one, idsOf([two, three]))
      const refused = await fetchAll(one, [one.node_id])
      const row = { relation: 'node_edge_psks.fetch', object: `node:${one.node_id}`, domainId: domain }
      expect([await fleet.audit(granted), await fleet.audit(refused)]).toEqual([
        { ...row, outcome: 'granted', reason: 'granted' },
        { ...row, outcome: 'invariant_violation', reason: 'same_peer' },
      ])
      const correlationId = granted.headers.get('x-correlation-id')
      expect(fleet.audited.filter((entry) => entry.correlationId === correlationId)).toHaveLength(1)
    })
  })
})
