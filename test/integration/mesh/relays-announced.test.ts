import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { STORES } from '../../support/datastores/stores.ts'
import type { Enrolled } from '../../support/fleet/fleet.ts'
import { startRelayedFleet, type RelayedFleet } from '../../support/fleet/relayed-fleet.ts'

const RESYNC = { reason: 'resync', blocks: ['peers'], peers: [] }

describe.each(STORES)('Moved relays on the $name store', (store) => {
  describe.skipIf(store.missing)('with two bridges', () => {
    let fleet: RelayedFleet
    let domain: string
    let project: string
    let a: Enrolled
    let b: Enrolled
    let x: Enrolled
    let y: Enrolled
    let first: string
    let second: string
    beforeAll(async () => {
      fleet = await startRelayedFleet(store)
    }, 180_000)
    beforeEach(async () => {
      domain = await fleet.domain()
      project = await fleet.project(domain)
      ;[a, b, x, y] = (await fleet.reachable(domain, 4)) as [Enrolled, Enrolled, Enrolled, Enrolled]
      first = await fleet.bridge(project, [a.node_id], 51_821)
      second = await fleet.bridge(project, [b.node_id], 51_900)
      await fleet.endpoint(a, '203.0.113.1:40000')
      await fleet.endpoint(b, '203.0.113.2:40000')
      await settle()
    })
    afterAll(() => fleet?.stop())

    async function settle(): Promise<void> {
      await fleet.follow()
      fleet.wait(2_000)
      await fleet.events.settle()
      expect(fleet.events.poison).toEqual([])
    }

    /** The hints that the nodes receive of what is done. */
    async function heard(of: readonly Enrolled[], done: () => Promise<unknown>): Promise<unknown[][]> {
      const before = of.map(({ node_id }) => fleet.events.received(node_id).length)
      await done()
      await settle()
      return of.map(({ node_id }, index) =>
        fleet.events
          .received(node_id)
          .slice(before[index])
          .filter(([type]) => type === 'node_state_updated')
          .map(([, payload]) => payload),
      )
    }

    const named = (node: Enrolled, fallback_endpoint?: string, endpoint = '') => ({
      reason: 'changed',
      blocks: ['peers'],
      peers: [
        {
          node_id: node.node_id,
          changes: ['endpoint_changed'],
          endpoint,
          ...(fallback_endpoint && { fallback_endpoint }),
        },
      ],
    })

    it('are announced with the new way where one node prefers another one', async () => {
      const preferring = await heard([y, x, b], () => fleet.prefer(`node/${x.node_id}`, second))
      expect(preferring).toEqual([[named(x, '203.0.113.2:51900')], [], [named(x, '203.0.113.2:51900')]])
      expect(await heard([y], () => fleet.announced([b.node_id], 'unreachable'))).toEqual([
        // The Domain's second relay is gone, too.
        [RESYNC],
      ])
    })

    it('are announced with a node that registers', async () => {
      const [hints] = await heard([y], async () => {
        const [node] = await fleet.reachable(domain, 1)
        x = node ?? x
      })
      const peers = (hints as { peers: { node_id: string; fallback_endpoint?: string }[] }[]).flatMap(
        (hint) => hint.peers,
      )
      expect(peers.find(({ node_id }) => node_id === x.node_id)).toMatchObject({
        changes: ['registered', 'psk_assigned', 'endpoint_changed'],
        fallback_endpoint: '203.0.113.1:51821',
      })
    })

    it('are announced to all nodes where the Domain has another one, or it is reached elsewhere', async () => {
      const port = (id: string, listen_port: number) =>
        fleet.db.updateTable('bridge_relays').set({ listen_port }).where('resource_id', '=', id).execute()
      expect(await heard([x, y], () => port(first, 50_001))).toEqual([[RESYNC], [RESYNC]])
      expect(await heard([x, y], () => fleet.endpoint(a, '203.0.113.9:40000'))).toEqual([[RESYNC], [RESYNC]])
      expect(await heard([x, y], () => fleet.announced([a.node_id], 'unreachable'))).toEqual([[RESYNC], [RESYNC]])
      expect((await fleet.fallbacks(y))[x.node_id]).toBe('203.0.113.2:51900')
    })

    it('of a bridge that few nodes prefer are announced with these nodes alone', async () => {
      const [low, high] = (await fleet.reachable(domain, 2)) as [Enrolled, Enrolled]
      await fleet.endpoint(low, '203.0.113.3:40000')
      await fleet.endpoint(high, '203.0.113.4:40000')
      const third = await fleet.bridge(project, [low.node_id, high.node_id], 52_000)
      await fleet.prefer(`node/${x.node_id}`, third)
      await settle()
      const down = await heard([y, b], () => fleet.announced([low.node_id], 'unreachable'))
      expect(down).toEqual([[named(x, '203.0.113.4:52000')], [named(x, '203.0.113.4:52000')]])
      const moved = await heard([y], () => fleet.endpoint(high, '203.0.113.5:40000'))
      expect(moved).toMatchObject([
        [
          {
            reason: 'changed',
            peers: [
              { node_id: x.node_id, fallback_endpoint: '203.0.113.5:52000' },
              { node_id: high.node_id, endpoint: '203.0.113.5:40000' },
            ].toSorted((one, other) => (one.node_id < other.node_id ? -1 : 1)),
          },
        ],
      ])
      const port = () =>
        fleet.db.updateTable('bridge_relays').set({ listen_port: 52_001 }).where('resource_id', '=', third).execute()
      expect(await heard([y], port)).toEqual([[named(x, '203.0.113.5:52001')]])
    })

    it('are announced without a way where none is left, and merged with what else changed', async () => {
      await fleet.prefer(`node/${x.node_id}`, second)
      await settle()
      const hints = await heard([y], async () => {
        await fleet.unprefer(`node/${x.node_id}`)
        await fleet.follow()
        await fleet.endpoint(x, '198.51.100.1:1')
        await fleet.db
          .updateTable('bridge_relays')
          .set({ enabled: false })
          .where('resource_id', 'in', [first, second])
          .execute()
      })
      expect(hints).toEqual([[RESYNC]])
      expect((await fleet.fallbacks(y))[x.node_id]).toBeUndefined()
    })

    it('are a resync where more nodes than a hint lists prefer another one', async () => {
      await fleet.reachable(domain, 65)
      await settle()
      expect(await heard([y], () => fleet.prefer(`domain/${domain}`, second))).toEqual([[RESYNC]])
    }, 180_000)

    it('are seen where nodes see only some others: the node and its peers learn of the relay', async () => {
      const { body } = await fleet.call(fleet.root, `PATCH /v1/domains/${domain}`, { peer_visibility: 'reachable' })
      expect(body['peer_visibility']).toBe('reachable')
      await settle()
      const [hints] = await heard([y], () => fleet.prefer(`node/${x.node_id}`, second))
      expect(hints).toMatchObject([
        {
          reason: 'changed',
          peers: [
            { node_id: x.node_id, fallback_endpoint: '203.0.113.2:51900' },
            { node_id: b.node_id, endpoint: '203.0.113.2:40000' },
          ].toSorted((one, other) => (one.node_id < other.node_id ? -1 : 1)),
        },
      ])
    })
  })
})
