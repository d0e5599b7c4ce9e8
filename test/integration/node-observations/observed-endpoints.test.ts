import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Enrolled } from '../../support/fleet/fleet.ts'
import { addNodes } from '../../support/fleet/many-nodes.ts'
import { startObservedFleet, type ObservedFleet } from '../../support/fleet/observed-fleet.ts'
import { accepts, isolates, visibilityRows } from '../../support/fleet/visibility-rows.ts'
import { STORES } from '../../support/datastores/stores.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const GUESS = '203.0.113.7:51820'
const SEEN = '203.0.113.7:40001'
const OTHER = '198.51.100.99:666'

describe.each(STORES)('Endpoints on the $name store', (store) => {
  describe.skipIf(store.missing)('as peers see them', () => {
    let fleet: ObservedFleet
    let domain: string
    let node: Enrolled
    let peers: readonly Enrolled[]
    let startMs: number
    let [one, two, three]: [Enrolled, Enrolled, Enrolled] = [] as never
    beforeAll(async () => {
      fleet = await startObservedFleet(store)
      startMs = fleet.clock.nowMs
    }, 120_000)
    beforeEach(async () => {
      fleet.clock.nowMs = startMs
      domain = await fleet.domain()
      node = await fleet.enrol(domain)
      peers = [await fleet.enrol(domain), await fleet.enrol(domain), await fleet.enrol(domain)]
      ;[one, two, three] = peers as [Enrolled, Enrolled, Enrolled]
      await fleet.db.deleteFrom('outbox').execute()
    }, 180_000)
    afterAll(() => fleet?.stop())

    const sees = (observer: Enrolled, endpoint: string, members = {}) =>
      fleet.sees(observer, { [node.node_id]: endpoint }, members)
    const guess = (endpoint = GUESS, members = {}) =>
      fleet.endpoint(node, endpoint, { nat_type: 'unknown', ...members })
    /** What the peers were sent of the node, oldest first. */
    const news = async () =>
      (await fleet.endpointNews())
        .filter(({ aggregate }) => aggregate === `node:${node.node_id}`)
        .map(({ payload }) => (payload as { readonly endpoint: string }).endpoint)
    const TAKEN = { status: 200, body: { taken: 1, ignored: 0 } }
    const IGNORED = { status: 200, body: { taken: 0, ignored: 1 } }

    it('are taken and announced to the peers of the node, where the node itself has reported nothing', async () => {
      const before = await fleet.revision(domain)
      expect(await sees(one, SEEN)).toMatchObject({
        status: 200,
        body: { accepted_at: '2026-03-01T08:00:00.000Z', taken: 1, ignored: 0 },
      })
      expect(await fleet.endpointNews()).toEqual([
        {
          domain_id: domain,
          aggregate: `node:${node.node_id}`,
          payload: { node_id: node.node_id, endpoint: SEEN },
        },
      ])
      expect(await fleet.revision(domain)).toBe(before + 1)
      expect(await fleet.call(fleet.root, `GET /v1/nodes/${node.node_id}`)).toMatchObject({
        body: { endpoint: SEEN, nat_type: null, endpoint_reported_at: '2026-03-01T08:00:00.000Z' },
      })
    })

    it('replace a guess, also one that comes again or is another one later', async () => {
      await guess()
      await sees(one, SEEN)
      fleet.wait(1_000)
      await guess()
      fleet.wait(1_000)
      await guess(OTHER)
      expect(await news()).toEqual([GUESS, SEEN])
      expect(await fleet.storedEndpoint(node.node_id)).toMatchObject({
        last_endpoint_port: 40_001,
        own_endpoint: '198.51.100.99',
        own_reported_at: new Date(fleet.clock.nowMs),
      })
    })

    it('do not replace what the node has determined, and are not used any more once it has', async () => {
      await guess()
      await sees(one, SEEN)
      await fleet.endpoint(node, OTHER, { nat_type: 'cone', reported_at: fleet.instant(1) })
      await sees(two, SEEN)
      await sees(three, SEEN)
      expect(await news()).toEqual([GUESS, SEEN, OTHER])
      fleet.wait(2)
      await guess(OTHER)
      expect(await news()).toEqual([GUESS, SEEN, OTHER, SEEN])
    })

    it('that come again cause no event, change no revision and keep the endpoint fresh', async () => {
      await sees(one, SEEN)
      const before = await fleet.revision(domain)
      for (let minute = 0; minute < 10; minute++) {
        fleet.wait(60_000)
        expect(await sees(one, SEEN)).toMatchObject(TAKEN)
        await fleet.sweep()
      }
      expect(await news()).toEqual([SEEN])
      expect(await fleet.revision(domain)).toBe(before)
    })

    it('follow a node that moves, as soon as one of those that saw it sees it elsewhere', async () => {
      await sees(one, SEEN)
      await sees(two, SEEN)
      fleet.wait(1_000)
      await sees(one, OTHER)
      await sees(two, OTHER)
      expect(await news()).toEqual([SEEN, OTHER])
    })

    it('cannot be replaced by one peer where two others confirm them, however often it reports', async () => {
      await sees(one, SEEN)
      await sees(two, SEEN)
      for (const endpoint of [OTHER, '198.51.100.99:667', OTHER]) {
        // One peer's report of a node changes once within ten seconds.
        fleet.wait(10_000)
        expect(await sees(three, endpoint)).toMatchObject(TAKEN)
      }
      expect(await news()).toEqual([SEEN])
    })

    it('cannot be replaced by one peer that joins those who saw the node there before it moved', async () => {
      const [four, five] = [await fleet.enrol(domain), await fleet.enrol(domain)]
      await sees(one, SEEN)
      await sees(two, SEEN)
      fleet.wait(1_000)
      await sees(three, OTHER)
      await sees(four, OTHER)
      fleet.wait(1_000)
      await sees(five, SEEN)
      expect(await news()).toEqual([SEEN, OTHER])
    })

    it('yield to what one peer sees where the node has moved by its own report, although more have not seen it there', async () => {
      await guess()
      await sees(one, GUESS)
      await sees(two, GUESS)
      await sees(three, GUESS)
      fleet.wait(1_000)
      await guess(OTHER)
      await sees(one, OTHER)
      fleet.wait(1_000)
      await sees(two, GUESS)
      await sees(three, GUESS)
      expect(await news()).toEqual([GUESS, OTHER])
    })

    it('that one peer each sees at another port are those of the newest, and do not alternate', async () => {
      const ports = [1, 2, 3]
      for (let round = 0; round < 3; round++) {
        for (const [index, port] of ports.entries()) {
          fleet.wait(1_000)
          await sees(peers[index] ?? one, `203.0.113.7:${port}`)
        }
      }
      expect(await news()).toEqual(['203.0.113.7:1', '203.0.113.7:2', '203.0.113.7:3'])
    })

    it('expire with the TTL of the Domain: what is still fresh comes next, and nothing in the end', async () => {
      await guess()
      await sees(one, SEEN)
      await sees(two, SEEN)
      fleet.wait(200_000)
      await sees(three, OTHER)
      await guess()
      expect(await news()).toEqual([GUESS, SEEN])
      fleet.wait(100_001)
      await fleet.sweep()
      expect(await news()).toEqual([GUESS, SEEN, OTHER])
      fleet.wait(150_000)
      await guess()
      fleet.wait(50_001)
      await fleet.sweep()
      expect(await news()).toEqual([GUESS, SEEN, OTHER, GUESS])
      fleet.wait(300_000)
      await fleet.sweep()
      await fleet.sweep()
      expect(await news()).toEqual([GUESS, SEEN, OTHER, GUESS, ''])
    })

    it('come back after they have expired, although they are the same', async () => {
      await sees(one, SEEN)
      fleet.wait(300_001)
      await fleet.sweep()
      expect(await sees(one, SEEN)).toMatchObject(TAKEN)
      expect(await news()).toEqual([SEEN, '', SEEN])
    })

    it('that are repeated or overtaken change nothing', async () => {
      const first = { reported_at: fleet.instant(0) }
      await sees(one, SEEN, first)
      await sees(one, OTHER, { reported_at: fleet.instant(10) })
      for (const [endpoint, members] of [
        [SEEN, first],
        [SEEN, { reported_at: fleet.instant(9) }],
        [SEEN, { reported_at: fleet.instant(10) }],
      ] as const)
        expect(await sees(one, endpoint, members)).toMatchObject(TAKEN)
      expect(await news()).toEqual([SEEN, OTHER])
    })

    it('of nodes that the observer does not have are ignored and counted: of none, of itself, of another Domain', async () => {
      const foreign = await fleet.enrol(await fleet.domain())
      const endpoints = {
        [NOWHERE]: SEEN,
        [foreign.node_id]: SEEN,
        [one.node_id]: SEEN,
        [two.node_id]: OTHER,
        [node.node_id]: SEEN,
      }
      expect(await fleet.sees(one, endpoints)).toMatchObject({ status: 200, body: { taken: 2, ignored: 3 } })
      expect(await fleet.sees(foreign, { [node.node_id]: OTHER })).toMatchObject(IGNORED)
      const told = (await fleet.endpointNews()).map(({ aggregate }) => aggregate)
      expect(told.toSorted()).toEqual([`node:${node.node_id}`, `node:${two.node_id}`].toSorted())
    })

    it('of nodes that the observer does not see are ignored, from the moment on at which it does not', async () => {
      const id = fleet.ids.next()
      const rows = visibilityRows(fleet)
      const rules = [isolates('egress'), isolates('ingress'), accepts('egress', [1]), accepts('ingress', [1])]
      const all = [node, ...peers].map(({ node_id }) => node_id)
      await rows.policy(domain, { id, rules, nodeIds: all })
      for (const each of [node, one]) await rows.place(domain, each.node_id, { groups: [1], policyIds: [id] })
      await fleet.call(fleet.root, `PATCH /v1/domains/${domain}`, { peer_visibility: 'reachable' })
      expect(await sees(two, OTHER)).toMatchObject(IGNORED)
      expect(await sees(one, SEEN)).toMatchObject(TAKEN)
      await rows.place(domain, one.node_id, { groups: [], policyIds: [id] })
      fleet.wait(1_000)
      expect(await sees(one, SEEN)).toMatchObject(IGNORED)
      expect(await news()).toEqual([SEEN])
    })

    it('are kept of 16 observers, and of more once the observations of those have expired', async () => {
      const observers: Enrolled[] = []
      for (let count = 0; count < 17; count++) observers.push(await fleet.enrol(domain))
      const last = observers.pop() ?? one
      for (const [index, observer] of observers.entries()) await sees(observer, `203.0.113.7:${index + 1}`)
      expect(await sees(last, OTHER)).toMatchObject(IGNORED)
      expect(await sees(observers[3] ?? one, '203.0.113.7:99', { reported_at: fleet.instant(1) })).toMatchObject(TAKEN)
      fleet.wait(300_002)
      expect(await sees(last, OTHER)).toMatchObject(TAKEN)
      const kept = await fleet.db
        .selectFrom('endpoint_observations')
        .select('observer_id')
        .where('node_id', '=', node.node_id)
        .execute()
      expect(kept).toEqual([{ observer_id: last.node_id }])
    })

    it('that become others for more than 64 peers within ten seconds are ignored, and those that stay are not', async () => {
      const many = await addNodes(fleet, domain, 130)
      const parts = [many.slice(0, 64), many.slice(64, 128), many.slice(128)]
      const report = async (port: number, part: readonly { readonly node_id: string }[] = []) => {
        fleet.wait(1)
        const endpoints = Object.fromEntries(part.map(({ node_id }) => [node_id, `203.0.113.9:${port}`]))
        return (await fleet.sees(one, endpoints)).body
      }
      for (const part of parts) expect(await report(1, part)).toMatchObject({ ignored: 0 })
      expect(await report(2, parts[0])).toMatchObject({ taken: 64, ignored: 0 })
      await fleet.db.deleteFrom('outbox').execute()
      expect(await report(3, parts[0])).toMatchObject({ taken: 0, ignored: 64 })
      expect(await report(2, parts[1])).toMatchObject({ taken: 0, ignored: 64 })
      expect(await report(1, parts[2])).toMatchObject({ taken: 2, ignored: 0 })
      expect(await fleet.endpointNews()).toEqual([])
      fleet.wait(10_000)
      expect(await report(2, parts[1])).toMatchObject({ taken: 64, ignored: 0 })
      expect(await fleet.endpointNews()).toHaveLength(64)
    })

    it('of one peer become others once within ten seconds, so that one node cannot make events without end', async () => {
      const report = async (port: number) => {
        fleet.wait(1)
        return (await fleet.sees(one, { [node.node_id]: `203.0.113.9:${port}` })).body
      }
      for (const port of [1, 2]) expect(await report(port)).toMatchObject({ taken: 1 })
      for (const port of [3, 1, 3]) expect(await report(port)).toMatchObject({ taken: 0, ignored: 1 })
      expect(await report(2)).toMatchObject({ taken: 1 })
      fleet.wait(10_000)
      expect(await report(3)).toMatchObject({ taken: 1 })
    })

    it('that are the address of a relay of the Domain are ignored', async () => {
      await fleet.endpoint(three, '203.0.113.1:51820')
      await fleet.db
        .updateTable('domain_peers')
        .set({ relay_node_id: three.node_id, relay_port: 51_821 })
        .where('domain_id', '=', domain)
        .execute()
      expect(await sees(one, '203.0.113.1:51821')).toMatchObject(IGNORED)
      expect(await sees(one, '203.0.113.1:51820')).toMatchObject(TAKEN)
    })

    it('go with the observer, and what peers got stays until it expires', async () => {
      await sees(one, SEEN)
      await fleet.call(fleet.root, `DELETE /v1/nodes/${one.node_id}`)
      expect(await sees(one, OTHER)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
      await fleet.sweep()
      expect(await news()).toEqual([SEEN])
      fleet.wait(300_001)
      await fleet.sweep()
      expect(await news()).toEqual([SEEN, ''])
    })

    it('of many peers by many observers at once end as the last event says, without a deadlock', async () => {
      const all = [node, ...peers]
      for (let round = 0; round < 4; round++) {
        fleet.wait(1_000)
        const answers = await Promise.all(
          all.flatMap((observer, index) => {
            const others = all.filter((each) => each !== observer)
            const endpoints = Object.fromEntries(
              others.map(({ node_id }, place) => [node_id, `203.0.113.${(round + index) % 3}:${place + 1}`]),
            )
            return [
              fleet.sees(observer, endpoints),
              fleet.endpoint(observer, `198.51.100.${round + 1}:${index + 1}`, { nat_type: 'unknown' }),
              fleet.sees(observer, endpoints, { reported_at: fleet.instant(1) }),
            ]
          }),
        )
        expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
      }
      const last = new Map((await fleet.endpointNews()).map(({ aggregate, payload }) => [aggregate, payload]))
      for (const { node_id } of all) {
        const stored = await fleet.storedEndpoint(node_id)
        const endpoint = `${String(stored?.['last_endpoint'])}:${String(stored?.['last_endpoint_port'])}`
        expect(last.get(`node:${node_id}`)).toEqual({ node_id, endpoint })
      }
    })

    it.each([
      ['loopback', '127.0.0.1:51820', 'endpoint_unparseable'],
      ['a zone', '[fe80::1%eth0]:51820', 'endpoint_unparseable'],
      ['a name', 'web-1.example.org:51820', 'endpoint_unparseable'],
    ])('are refused as a whole where one is no endpoint: %s', async (_, endpoint, code) => {
      const answer = await fleet.sees(one, { [two.node_id]: SEEN, [node.node_id]: endpoint })
      expect(answer).toMatchObject({ status: 400, body: { code } })
      expect(await fleet.endpointNews()).toEqual([])
    })

    it('are 1 to 64, each peer once', async () => {
      const many = (count: number) =>
        Array.from({ length: count }, () => ({ peer_node_id: fleet.ids.next(), endpoint: SEEN }))
      const send = (observed: readonly object[]) => fleet.sees(one, {}, { observed })
      expect(await send(many(64))).toMatchObject({ status: 200, body: { taken: 0, ignored: 64 } })
      const twice = [node.node_id, node.node_id.toUpperCase()].map((peer_node_id) => ({ peer_node_id, endpoint: SEEN }))
      for (const observed of [many(65), [], twice])
        expect(await send(observed)).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
    })

    it.each([
      ['61 s old', -60_001, 'skew'],
      ['61 s ahead', 60_001, 'skew'],
      ['older than endpoints may be', -300_001, 'stale'],
    ])('are refused where the report is %s', async (_, ms, reason) => {
      const answer = await sees(one, SEEN, { reported_at: fleet.instant(ms) })
      expect(answer).toMatchObject({ status: 400, body: { code: 'endpoint_clock_skew' } })
      expect(await fleet.audit(answer)).toMatchObject({ relation: 'node_observed_endpoints.record', reason })
    })

    it('are audited once for a report, with what they changed or without', async () => {
      const row = {
        relation: 'node_observed_endpoints.record',
        object: `node:${one.node_id}`,
        outcome: 'granted',
        reason: 'granted',
        domainId: domain,
      }
      expect(await fleet.audit(await sees(one, SEEN))).toEqual(row)
      fleet.wait(1)
      expect(await fleet.audit(await sees(one, SEEN))).toEqual(row)
    })
  })
})
