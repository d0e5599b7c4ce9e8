import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ControlPlane } from '../../support/server/control-plane.ts'
import { failingDatastore } from '../../support/datastores/failing-datastore.ts'
import { STORES } from '../../support/datastores/stores.ts'
import type { Enrolled } from '../../support/fleet/fleet.ts'
import {
  startPullingReplica,
  startStatefulFleet,
  stateRows,
  type Pulling,
  type StatefulFleet,
} from '../../support/fleet/node-states.ts'
import { accepts, isolates, visibilityRows } from '../../support/fleet/visibility-rows.ts'

/** Closed but for connections with group 1. */
const FROM_WEB = [isolates('egress'), isolates('ingress'), accepts('egress', [1]), accepts('ingress', [1])]
const CLOSED = [isolates('egress'), isolates('ingress')]
const [WEB, DB] = [1, 2]

describe.each(STORES)('Peers of a Domain with peer visibility on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    const outage = failingDatastore()
    let fleet: StatefulFleet
    let replica: ControlPlane & Pulling
    let rows: ReturnType<typeof visibilityRows>
    let facts: ReturnType<typeof stateRows>
    let domain: string
    let policyId: string
    let web: readonly [Enrolled, Enrolled]
    let db: readonly [Enrolled, Enrolled]
    beforeAll(async () => {
      fleet = await startStatefulFleet(store, outage)
      replica = await startPullingReplica(fleet)
      rows = visibilityRows(fleet)
      facts = stateRows(fleet)
    }, 120_000)
    beforeEach(async () => {
      domain = await fleet.domain()
      policyId = fleet.ids.next()
      web = [await fleet.enrol(domain), await fleet.enrol(domain)]
      db = [await fleet.enrol(domain), await fleet.enrol(domain)]
    }, 180_000)
    afterAll(async () => {
      await replica.stop()
      await fleet.stop()
    })

    const show = (peer_visibility: 'all' | 'reachable') =>
      fleet.call(fleet.root, `PATCH /v1/domains/${domain}`, { peer_visibility })
    const own = (node: Enrolled, ifNoneMatch?: string) => fleet.pull(node.nsk, node.node_id, ifNoneMatch)
    const peersOf = async (node: Enrolled) =>
      ((await own(node)).body['peers'] as readonly { node_id: string }[]).map(({ node_id }) => node_id)
    const idsOf = (...nodes: readonly Enrolled[]) => nodes.map(({ node_id }) => node_id).toSorted()
    const all = () => [...web, ...db]

    /** Databases accept connections of the web alone, and see neither each other nor anybody else. */
    async function tiers(): Promise<void> {
      for (const node of web) await rows.place(domain, node.node_id, { groups: [WEB], policyIds: [] })
      for (const node of db) await rows.place(domain, node.node_id, { groups: [DB], policyIds: [] })
      await rows.policy(domain, { id: policyId, rules: FROM_WEB, nodeIds: db.map(({ node_id }) => node_id) })
    }

    it('`all` are all others, whatever policies say, with the groups of each', async () => {
      await tiers()
      for (const node of all()) expect(await peersOf(node)).toEqual(idsOf(...all().filter((other) => other !== node)))
      expect((await own(web[0])).body['peers']).toContainEqual(
        expect.objectContaining({ node_id: db[0].node_id, groups: [DB] }),
      )
    })

    it('`reachable` are those with which the verdict allows something', async () => {
      await tiers()
      expect((await show('reachable')).status).toBe(200)
      for (const node of web) expect(await peersOf(node)).toEqual(idsOf(...all().filter((other) => other !== node)))
      for (const node of db) expect(await peersOf(node)).toEqual(idsOf(...web))
      await show('all')
      for (const node of db) expect(await peersOf(node)).toEqual(idsOf(...all().filter((other) => other !== node)))
    })

    it('`reachable` without policies is `all`, byte for byte', async () => {
      const before = await Promise.all(all().map((node) => own(node)))
      await show('reachable')
      const after = await Promise.all(all().map((node) => own(node)))
      expect(after.map(({ text }) => text)).toEqual(before.map(({ text }) => text))
    })

    it('have a tag that changes with the peers that a node sees, and with no others', async () => {
      await tiers()
      await show('reachable')
      const tag = async (node: Enrolled) => (await own(node)).etag
      const before = [await tag(web[0]), await tag(db[0]), await tag(db[1])]
      await facts.endpoint(domain, db[1].node_id, { host: '198.51.100.3', port: 3 })
      expect((await own(db[0], before[1])).status).toBe(304)
      // Its own endpoint is nothing that it sees.
      expect((await own(db[1], before[2])).status).toBe(304)
      const changed = await own(web[0], before[0])
      expect([changed.status, changed.text.includes('198.51.100.3:3')]).toEqual([200, true])
      // The same bytes are the same state, however often they were written.
      await facts.endpoint(domain, db[1].node_id, { host: '198.51.100.3', port: 3 })
      expect((await own(web[0], changed.etag)).status).toBe(304)
      expect((await own(db[0], changed.etag)).status).toBe(200)
    })

    it('have another tag after a rename for the nodes that see the node, and for no others', async () => {
      await tiers()
      await show('reachable')
      const [ofWeb, ofDb] = [await own(web[0]), await own(db[0])]
      await fleet.call(fleet.root, `PATCH /v1/nodes/${db[1].node_id}`, { name: 'renamed' })
      const changed = await own(web[0], ofWeb.etag)
      expect([changed.status, changed.text.includes('"name":"renamed"')]).toEqual([200, true])
      expect((await own(db[0], ofDb.etag)).status).toBe(304)
    })

    it('are the same bytes under the same tag on a replica that read everything at once', async () => {
      await tiers()
      await show('reachable')
      await own(db[0])
      await facts.endpoint(domain, web[1].node_id, { host: '198.51.100.3', port: 3 })
      await rows.place(domain, web[0].node_id, { groups: [], policyIds: [] })
      for (const node of all()) {
        const [one, other] = [await own(node), await replica.pull(node.nsk, node.node_id)]
        expect([other.status, other.etag, other.text]).toEqual([200, one.etag, one.text])
        expect((await replica.pull(node.nsk, node.node_id, one.etag)).status).toBe(304)
      }
    })

    it('change with rules, groups, matches, joining and leaving', async () => {
      await tiers()
      await show('reachable')
      expect(await peersOf(db[0])).toEqual(idsOf(...web))
      await rows.place(domain, web[1].node_id, { groups: [], policyIds: [] })
      expect(await peersOf(db[0])).toEqual(idsOf(web[0]))
      await rows.policy(domain, { id: policyId, rules: CLOSED, nodeIds: [db[0].node_id] })
      expect(await peersOf(db[0])).toEqual(idsOf())
      expect(await peersOf(db[1])).toEqual(idsOf(...web))
      await rows.withoutPolicy(domain, policyId)
      const joined = await fleet.enrol(domain)
      expect(await peersOf(db[0])).toEqual(idsOf(...web, db[1], joined))
      await fleet.call(fleet.root, `DELETE /v1/nodes/${joined.node_id}`)
      expect(await peersOf(db[0])).toEqual(idsOf(...web, db[1]))
    })

    it('include the relays of edges, which see whom they relay', async () => {
      const relay = await fleet.enrol(domain)
      const [second, loner] = [await fleet.enrol(domain), await fleet.enrol(domain)]
      await tiers()
      const nobody = fleet.ids.next()
      await rows.policy(domain, { id: nobody, rules: CLOSED, nodeIds: [relay.node_id, second.node_id, loner.node_id] })
      await show('reachable')
      expect(await peersOf(db[0])).toEqual(idsOf(...web))
      expect(await peersOf(relay)).toEqual([])
      await facts.relays(domain, relay.node_id, second.node_id)
      expect(await peersOf(db[0])).toEqual(idsOf(...web, relay))
      expect(await peersOf(relay)).toEqual(idsOf(...web, ...db))
      // Nothing leads to it, so that nothing is relayed.
      expect(await peersOf(loner)).toEqual([])
      expect(await peersOf(second)).toEqual([])
    })

    it('stay those of the last pull while the datastore is away', async () => {
      await tiers()
      await show('reachable')
      const before = await own(db[0])
      outage.isAway = true
      try {
        const stale = await own(db[0])
        expect([stale.status, stale.text, stale.etag]).toEqual([200, before.text, before.etag])
        expect(stale.headers.get('x-service-degraded')).toMatch(/^datastore; since=/)
        expect((await own(db[0], before.etag)).status).toBe(304)
        // A tag of another state: another replica may have answered it.
        expect((await own(db[0], '"other"')).status).toBe(503)
      } finally {
        outage.isAway = false
      }
      await facts.endpoint(domain, web[1].node_id, { host: '198.51.100.3', port: 3 })
      const after = await own(db[0], before.etag)
      expect(after.status).toBe(200)
      expect(after.text).not.toBe(before.text)
    })
  })
})
