import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Enrolled } from '../../support/fleet/fleet.ts'
import { startObservedFleet, type ObservedFleet } from '../../support/fleet/observed-fleet.ts'
import { STORES } from '../../support/datastores/stores.ts'

describe.each(STORES)('Endpoints on the $name store', (store) => {
  describe.skipIf(store.missing)('as nodes report them', () => {
    let fleet: ObservedFleet
    let domain: string
    let node: Enrolled
    let startMs: number
    beforeAll(async () => {
      fleet = await startObservedFleet(store)
      startMs = fleet.clock.nowMs
    })
    beforeEach(async () => {
      fleet.clock.nowMs = startMs
      domain = await fleet.domain()
      node = await fleet.enrol(domain)
      await fleet.db.deleteFrom('outbox').execute()
    })
    afterAll(() => fleet.stop())

    const told = (endpoint: string, of: Enrolled = node) => ({
      domain_id: domain,
      aggregate: `node:${of.node_id}`,
      payload: { node_id: of.node_id, endpoint },
    })

    it('are answered with the instant of admission and until when they hold, and their peers are told', async () => {
      const before = await fleet.revision(domain)
      const answer = await fleet.endpoint(node, '198.51.100.7:51820', {
        nat_type: 'symmetric',
        reported_at: fleet.instant(-1_500),
      })
      expect(answer).toMatchObject({
        status: 200,
        body: { accepted_at: '2026-03-01T08:00:00.000Z', stale_after: '2026-03-01T08:04:58.500Z' },
      })
      expect(await fleet.storedEndpoint(node.node_id)).toEqual({
        node_id: node.node_id,
        domain_id: domain,
        last_endpoint: '198.51.100.7',
        last_endpoint_port: 51_820,
        nat_type: 'symmetric',
        last_endpoint_reported_at: new Date('2026-03-01T07:59:58.500Z'),
        last_endpoint_stale_at: null,
        own_endpoint: '198.51.100.7',
        own_endpoint_port: 51_820,
        own_reported_at: new Date('2026-03-01T07:59:58.500Z'),
        candidates: [],
      })
      expect(await fleet.endpointNews()).toEqual([told('198.51.100.7:51820')])
      expect(await fleet.revision(domain)).toBe(before + 1)
      const { peer_revision } = await fleet.db
        .selectFrom('nodes')
        .select('peer_revision')
        .where('id', '=', node.node_id)
        .executeTakeFirstOrThrow()
      expect(Number(peer_revision)).toBe(before + 1)
    })

    it('that are the same again tell nobody anything, whatever the NAT is', async () => {
      await fleet.endpoint(node, '198.51.100.7:51820')
      const before = await fleet.revision(domain)
      fleet.wait(10_000)
      for (const [spelt, nat_type] of [
        ['198.51.100.7:51820', 'restricted'],
        ['[::ffff:198.51.100.7]:51820', 'port_restricted'],
      ] as const) {
        fleet.wait(1)
        expect(await fleet.endpoint(node, spelt, { nat_type })).toMatchObject({ status: 200 })
        expect(await fleet.storedEndpoint(node.node_id)).toMatchObject({
          nat_type,
          last_endpoint_reported_at: new Date(fleet.clock.nowMs),
        })
      }
      expect(await fleet.endpointNews()).toHaveLength(1)
      expect(await fleet.revision(domain)).toBe(before)
    })

    it('tell the peers when the address or the port is another', async () => {
      await fleet.endpoint(node, '198.51.100.7:51820')
      fleet.wait(1)
      await fleet.endpoint(node, '198.51.100.7:51821')
      fleet.wait(1)
      await fleet.endpoint(node, '[2001:DB8:0::7]:51821')
      expect(await fleet.endpointNews()).toEqual(
        ['198.51.100.7:51820', '198.51.100.7:51821', '[2001:db8::7]:51821'].map((endpoint) => told(endpoint)),
      )
      expect(await fleet.storedEndpoint(node.node_id)).toMatchObject({ last_endpoint: '2001:db8::7' })
    })

    it('that are repeated or overtaken change nothing, and are answered by the newest', async () => {
      const first = { reported_at: fleet.instant(0) }
      await fleet.endpoint(node, '198.51.100.7:51820', first)
      const newest = { reported_at: fleet.instant(10) }
      await fleet.endpoint(node, '198.51.100.8:51820', newest)
      const kept = await fleet.storedEndpoint(node.node_id)
      const before = await fleet.revision(domain)
      for (const [endpoint, members] of [
        ['198.51.100.7:51820', first],
        ['198.51.100.9:51820', { reported_at: fleet.instant(9), nat_type: 'unknown' }],
        ['198.51.100.8:51820', newest],
        ['198.51.100.9:51820', newest],
      ] as const) {
        expect(await fleet.endpoint(node, endpoint, members)).toMatchObject({
          status: 200,
          body: { accepted_at: '2026-03-01T08:00:00.000Z', stale_after: '2026-03-01T08:05:00.010Z' },
        })
      }
      expect(await fleet.storedEndpoint(node.node_id)).toEqual(kept)
      expect(await fleet.endpointNews()).toHaveLength(2)
      expect(await fleet.revision(domain)).toBe(before)
    })

    it('hold as long as their Domain says at the time', async () => {
      await fleet.holdFor(domain, 3_600)
      expect((await fleet.endpoint(node, '198.51.100.7:51820')).body['stale_after']).toBe('2026-03-01T09:00:00.000Z')
      await fleet.holdFor(domain, 30)
      fleet.wait(1)
      expect((await fleet.endpoint(node, '198.51.100.7:51820')).body['stale_after']).toBe('2026-03-01T08:00:30.001Z')
    })

    it('of one node at once leave the newest, and one event for each that was it', async () => {
      const offsets = [3, 9, 1, 7, 5, 2, 8, 4, 6, 0]
      const answers = await Promise.all(
        offsets.map((ms) => fleet.endpoint(node, `198.51.100.${ms + 1}:51820`, { reported_at: fleet.instant(ms) })),
      )
      expect(answers.map(({ status }) => status)).toEqual(offsets.map(() => 200))
      expect(await fleet.storedEndpoint(node.node_id)).toMatchObject({ last_endpoint: '198.51.100.10' })
      const news = (await fleet.endpointNews()).map(({ payload }) =>
        Number(/\.(\d+):/.exec(JSON.stringify(payload))?.[1]),
      )
      expect(news.at(-1)).toBe(10)
      expect(news).toEqual(news.toSorted((one, two) => one - two))
    })

    it('of nodes that are deregistered meanwhile are refused, and nothing fails', async () => {
      const nodes = await Promise.all(Array.from({ length: 12 }, () => fleet.enrol(domain)))
      const answers = await Promise.all(
        nodes.flatMap((each, index) => [
          fleet.endpoint(each, `203.0.113.${index + 1}:1`),
          fleet.call(fleet.root, `DELETE /v1/nodes/${each.node_id}`),
          fleet.endpoint(each, `203.0.113.${index + 1}:2`, { reported_at: fleet.instant(1) }),
        ]),
      )
      const statuses = new Set(answers.map(({ status }) => status))
      expect([...statuses].filter((status) => ![200, 204, 401].includes(status))).toEqual([])
      expect(answers.filter(({ status }) => status === 204)).toHaveLength(12)
      const left = await fleet.db
        .selectFrom('node_endpoints')
        .select('node_id')
        .where('domain_id', '=', domain)
        .execute()
      expect(left).toEqual([])
    })

    describe('beside a relay', () => {
      let relay: Enrolled
      let second: Enrolled
      const chosen = (members: { relay_node_id: string | null; second_relay_node_id: string | null }) =>
        fleet.db
          .updateTable('domain_peers')
          .set({ ...members, relay_port: 51_821, second_relay_port: 51_822 })
          .where('domain_id', '=', domain)
          .execute()
      beforeEach(async () => {
        relay = await fleet.enrol(domain)
        second = await fleet.enrol(domain)
        await fleet.endpoint(relay, '203.0.113.1:51820')
        await fleet.endpoint(second, '[2001:db8::2]:51820')
        await chosen({ relay_node_id: relay.node_id, second_relay_node_id: second.node_id })
        await fleet.db.deleteFrom('outbox').execute()
      })

      const fallbacks = async () =>
        (await fleet.endpointNews()).map(({ payload }) => (payload as Record<string, unknown>)['fallback_endpoint'])
      const whole = async () => {
        const row = await fleet.db
          .selectFrom('domain_peers')
          .select('whole_revision')
          .where('domain_id', '=', domain)
          .executeTakeFirstOrThrow()
        return Number(row.whole_revision)
      }

      it('come with its address and the port of the relay, and its own with those of the second', async () => {
        await fleet.endpoint(node, '198.51.100.7:51820')
        fleet.wait(1)
        await fleet.endpoint(relay, '203.0.113.1:40000')
        expect(await fallbacks()).toEqual(['203.0.113.1:51821', '[2001:db8::2]:51822'])
      })

      it('come with none where its endpoint is stale, or where there is no second', async () => {
        await fleet.db
          .updateTable('node_endpoints')
          .set({ last_endpoint_stale_at: new Date(startMs) })
          .where('node_id', '=', relay.node_id)
          .execute()
        await fleet.endpoint(node, '198.51.100.7:51820')
        await chosen({ relay_node_id: relay.node_id, second_relay_node_id: null })
        fleet.wait(1)
        await fleet.endpoint(relay, '203.0.113.1:51821')
        expect(await fallbacks()).toEqual([undefined, undefined])
      })

      it('change what everybody sees where they are the relay’s', async () => {
        const before = await whole()
        await fleet.endpoint(node, '198.51.100.7:51820')
        expect(await whole()).toBe(before)
        for (const each of [relay, second]) {
          fleet.wait(1)
          await fleet.endpoint(each, '203.0.113.9:51820')
          expect(await whole()).toBe(await fleet.revision(domain))
        }
      })
    })
  })
})
