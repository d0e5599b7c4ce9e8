import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { digestEpochs, EDGE_EPOCHS_KEY } from '../../../src/shared/mesh/epoch-digest.ts'
import { formatPskIssuedAt } from '../../../src/shared/mesh/psk-instant.ts'
import { startMeshFleet, type MeshFleet } from '../../support/fleet/mesh-fleet.ts'
import { STORES } from '../../support/datastores/stores.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

describe.each(STORES)('The proof of epochs on the $name store', (store) => {
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

    const verify = (body: unknown = {}, as = fleet.root, of = domain) =>
      fleet.call(as, `POST /v1/domains/${of}/mesh/edge-epochs/verify`, body)

    async function report(nodeId: string, value: unknown): Promise<void> {
      const row = { value: JSON.stringify(value), updated_at: new Date(fleet.clock.nowMs) }
      await fleet.db
        .insertInto('node_state_reports')
        .values({ node_id: nodeId, key: EDGE_EPOCHS_KEY, ...row })
        .onConflict((on) => on.columns(['node_id', 'key']).doUpdateSet(row))
        .execute()
    }

    /** What is stored of the Domain's keys, by node. */
    async function instants(): Promise<Map<string, string>> {
      const rows = await fleet.db
        .selectFrom('nodes')
        .select(['id', 'psk_issued_at'])
        .where('domain_id', '=', domain)
        .execute()
      return new Map(rows.map(({ id, psk_issued_at: ns }) => [id, formatPskIssuedAt(BigInt(ns))]))
    }

    /** What an agent reports that knows these instants. */
    function reportOf(own: string, known: ReadonlyMap<string, string>) {
      const peers = [...known].filter(([id]) => id !== own)
      return digestEpochs(new Map(peers.map(([id, issued]) => [id, `${known.get(own) ?? ''}|${issued}`])))
    }

    async function reportAll(): Promise<void> {
      const known = await instants()
      for (const id of known.keys()) await report(id, reportOf(id, known))
    }

    const rotate = (nodeId: string) =>
      fleet.db
        .updateTable('nodes')
        .set((on) => ({ psk_issued_at: on('psk_issued_at', '+', '1') }))
        .where('id', '=', nodeId)
        .execute()

    it('of an empty Domain compares nothing', async () => {
      expect((await verify()).body).toEqual({ nodes_checked: 0, edges_checked: 0, agreeing: 0, disagreeing: [] })
    })

    it('of a node alone compares no edge, but asks for its report', async () => {
      const [id = ''] = await fleet.many(domain, 1)
      expect((await verify()).body).toMatchObject({
        edges_checked: 0,
        disagreeing: [{ node_id: id, reason: 'not_reported', edges_expected: 0, edges_reported: null }],
      })
      await report(id, { count: 0, sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' })
      expect((await verify()).body).toEqual({ nodes_checked: 1, edges_checked: 0, agreeing: 1, disagreeing: [] })
    })

    it('agrees with agents that have what is stored, and is audited on the Domain', async () => {
      await fleet.many(domain, 5)
      await reportAll()
      const answer = await verify()
      expect(answer).toMatchObject({
        status: 200,
        body: { nodes_checked: 5, edges_checked: 20, agreeing: 5, disagreeing: [] },
      })
      expect(await fleet.audit(answer)).toMatchObject({
        relation: 'mesh_edge_epochs.verify',
        object: `domain:${domain}`,
        outcome: 'granted',
      })
    })

    it('says of each node, by id, in what it differs', async () => {
      const [a = '', b = '', c = '', d = '', e = ''] = (await fleet.many(domain, 5)).toSorted()
      await reportAll()
      await fleet.db.deleteFrom('node_state_reports').where('node_id', '=', e).execute()
      await report(d, { ...reportOf(d, await instants()), count: 3 })
      await report(c, 'all well')
      await report(b, { ...reportOf(b, await instants()), sha256: '0'.repeat(64) })
      expect((await verify()).body).toEqual({
        nodes_checked: 5,
        edges_checked: 20,
        agreeing: 1,
        disagreeing: [
          { node_id: b, reason: 'epochs_differ', edges_expected: 4, edges_reported: 4 },
          { node_id: c, reason: 'malformed', edges_expected: 4, edges_reported: null },
          { node_id: d, reason: 'count_differs', edges_expected: 4, edges_reported: 3 },
          { node_id: e, reason: 'not_reported', edges_expected: 4, edges_reported: null },
        ],
      })
      expect((await verify({ node_ids: [a, b, b] })).body).toEqual({
        nodes_checked: 2,
        edges_checked: 8,
        agreeing: 1,
        disagreeing: [{ node_id: b, reason: 'epochs_differ', edges_expected: 4, edges_reported: 4 }],
      })
    })

    it.each([
      [null],
      [7],
      ['text'],
      [[]],
      [{}],
      [{ count: 0 }],
      [{ count: 0, sha256: 'E3'.repeat(32) }],
      [{ count: 0, sha256: 'e3'.repeat(31) }],
      [{ count: '0', sha256: 'e3'.repeat(32) }],
      [{ count: -1, sha256: 'e3'.repeat(32) }],
      [{ count: 0.5, sha256: 'e3'.repeat(32) }],
      [{ count: 0, sha256: 'e3'.repeat(32), more: 1 }],
    ])('calls %j malformed', async (value) => {
      const [id = ''] = await fleet.many(domain, 1)
      await report(id, value)
      expect((await verify()).body['disagreeing']).toMatchObject([{ reason: 'malformed', edges_reported: null }])
    })

    it('finds exactly those that have not heard of what was rotated', async () => {
      const ids = (await fleet.many(domain, 8)).toSorted()
      const subset = fc.uniqueArray(fc.constantFrom(...ids))
      await fc.assert(
        fc.asyncProperty(subset, subset, async (rotated, slow) => {
          await reportAll()
          for (const id of rotated) await rotate(id)
          const known = await instants()
          for (const id of ids) if (!slow.includes(id)) await report(id, reportOf(id, known))
          // Each has an edge to every other one: a rotated node leaves all slow ones behind, itself included.
          const behind = rotated.length === 0 ? [] : slow.toSorted()
          const { body } = await verify()
          expect((body['disagreeing'] as { node_id: string }[]).map(({ node_id: id }) => id)).toEqual(behind)
          expect(body).toMatchObject({ nodes_checked: 8, edges_checked: 56, agreeing: 8 - behind.length })
        }),
        { numRuns: 30 },
      )
    }, 180_000)

    it('is of all nodes up to 1,000, and of those that are named beyond', async () => {
      const ids = await fleet.many(domain, 1_000)
      expect((await verify()).body).toMatchObject({ nodes_checked: 1_000, edges_checked: 999_000, agreeing: 0 })
      await fleet.many(domain, 1)
      expect(await verify()).toMatchObject({ status: 400, body: { code: 'epoch_filter_required' } })
      expect((await verify({ node_ids: ids })).body).toMatchObject({ nodes_checked: 1_000, edges_checked: 1_000_000 })
    }, 180_000)

    it('of what is not there, or not in the Domain, is 404', async () => {
      const [id = ''] = await fleet.many(domain, 1)
      const elsewhere = await fleet.enrol(await fleet.domain())
      for (const other of [NOWHERE, elsewhere.node_id])
        expect(await verify({ node_ids: [id, other] })).toMatchObject({ status: 404, body: { code: 'node_not_found' } })
      const gone = await fleet.lostDomain()
      expect(await verify({}, fleet.root, gone)).toMatchObject({ status: 404, body: { code: 'domain_not_found' } })
    })

    it('needs domain-view on the Domain', async () => {
      const viewer = await fleet.holder(domain, 'viewer', `domain:${domain}`)
      expect(await verify({}, viewer)).toMatchObject({ status: 200 })
      const stranger = await fleet.principal(await fleet.domain())
      expect(await verify({}, stranger)).toMatchObject({ status: 403 })
      expect(await verify({}, stranger, NOWHERE)).toMatchObject({ status: 403 })
    })

    it.each([
      ['no node', { node_ids: [] }],
      ['what is no id', { node_ids: ['x'] }],
      ['more than 1,000 nodes', { node_ids: Array.from({ length: 1_001 }, () => NOWHERE) }],
      ['another member', { nodes: [] }],
    ])('answers invalid_body to %s', async (_, body) => {
      expect(await verify(body)).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
    })
  })
})
