import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readAssignedNodes } from '../../../src/server/bridges/assigned-nodes.ts'
import { STORES } from '../../support/datastores/stores.ts'
import type { Enrolled } from '../../support/fleet/fleet.ts'
import { startRelayedFleet, type RelayedFleet } from '../../support/fleet/relayed-fleet.ts'
import { refusalOf } from '../../support/labels/labelled.ts'

const REFUSAL = 'platform/relay: the value is not the id of a bridge of the same Domain that you may observe.'
const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

describe.each(STORES)('Relays by label on the $name store', (store) => {
  describe.skipIf(store.missing)('with two bridges', () => {
    let fleet: RelayedFleet
    let domain: string
    let project: string
    /** Hosts, and nodes that host nothing. */
    let a: Enrolled
    let b: Enrolled
    let c: Enrolled
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
      ;[a, b, c, x, y] = (await fleet.reachable(domain, 5)) as [Enrolled, Enrolled, Enrolled, Enrolled, Enrolled]
      first = await fleet.bridge(project, [a.node_id], 51_821)
      second = await fleet.bridge(project, [b.node_id, c.node_id], 51_900)
      for (const [host, address] of [
        [a, '203.0.113.1:40000'],
        [b, '203.0.113.2:40000'],
        [c, '[2001:db8::3]:40000'],
      ] as const)
        await fleet.endpoint(host, address)
      await fleet.follow()
    })
    afterAll(() => fleet?.stop())

    const relayTo = async (node: Enrolled, from = y) => (await fleet.fallbacks(from))[node.node_id]
    const assigned = (bridge = second) => readAssignedNodes(fleet.db, bridge)
    const edge = async (from: Enrolled, to: Enrolled) => {
      const { body } = await fleet.call(fleet.root, `GET /v1/domains/${domain}/mesh/topology?node_id=${from.node_id}`)
      const edges = body['edges'] as readonly { to: string; mode: string; relay_node_id?: string }[]
      const found = edges.find(({ to: end }) => end === to.node_id)
      return found?.relay_node_id ?? found?.mode
    }
    const revisions = async () => {
      const row = await fleet.db
        .selectFrom('domain_peers')
        .select(['revision', 'whole_revision'])
        .where('domain_id', '=', domain)
        .executeTakeFirstOrThrow()
      return [Number(row.revision), Number(row.whole_revision)]
    }
    const prefer = async (object: string, bridge: string) => {
      expect(await fleet.prefer(object, bridge)).toMatchObject({ status: 200 })
      await fleet.follow()
    }

    it('carry the edges to a node over the bridge that it prefers, at the port of its relay', async () => {
      expect(await relayTo(x)).toBe('203.0.113.1:51821')
      const [, whole] = await revisions()
      await prefer(`node/${x.node_id}`, second)
      expect(await relayTo(x)).toBe('203.0.113.2:51900')
      expect([await edge(y, x), await edge(x, y)]).toEqual([b.node_id, a.node_id])
      // Only the segment of the node changed.
      expect((await revisions())[1]).toBe(whole)
      expect((await fleet.unprefer(`node/${x.node_id}`)).status).toBe(204)
      await fleet.follow()
      expect(await relayTo(x)).toBe('203.0.113.1:51821')
    })

    it('give the next host to edges whose end is the lowest one, and the Domain’s where there is none', async () => {
      await prefer(`node/${b.node_id}`, second)
      await prefer(`node/${a.node_id}`, first)
      expect([await relayTo(b), await relayTo(a)]).toEqual(['[2001:db8::3]:51900', '203.0.113.2:51900'])
      await prefer(`node/${x.node_id}`, second)
      // The far end decides: to b itself there is no relay but the way of the far end.
      expect(await edge(b, x)).toBe('direct')
    })

    it('fall back while the hosts are not reachable or the relay is disabled, and return', async () => {
      await prefer(`node/${x.node_id}`, second)
      const steps: [() => Promise<unknown>, string][] = [
        [() => fleet.announced([b.node_id], 'unreachable'), '[2001:db8::3]:51900'],
        [() => fleet.announced([c.node_id], 'unreachable'), '203.0.113.1:51821'],
        [() => fleet.announced([b.node_id], 'stale'), '203.0.113.2:51900'],
        [() => enable(second, false), '203.0.113.1:51821'],
        [() => enable(second, true), '203.0.113.2:51900'],
        [() => port(second, 60_000), '203.0.113.2:60000'],
        [() => port(first, 60_001), '203.0.113.2:60000'],
        [() => fleet.call(fleet.root, `DELETE /v1/nodes/${b.node_id}`), '203.0.113.1:60001'],
      ]
      for (const [step, expected] of steps) {
        await step()
        await fleet.follow()
        expect(await relayTo(x), String(step)).toBe(expected)
        expect(await edge(y, x)).toBe({ '2': b, '[': c, '1': a }[expected.replace('203.0.113.', '')[0] ?? '']?.node_id)
      }
    })
    const enable = (id: string, enabled: boolean) =>
      fleet.db.updateTable('bridge_relays').set({ enabled }).where('resource_id', '=', id).execute()
    const port = (id: string, listen_port: number) =>
      fleet.db.updateTable('bridge_relays').set({ listen_port }).where('resource_id', '=', id).execute()

    it('reach a host of several bridges at the port of the bridge by which it was chosen', async () => {
      const third = await fleet.bridge(project, [a.node_id], 52_000)
      await prefer(`node/${x.node_id}`, third)
      expect([await relayTo(x), await relayTo(y, x)]).toEqual(['203.0.113.1:52000', '203.0.113.1:51821'])
    })

    it('go by the Domain’s where the bridge was deleted, while the label stays', async () => {
      await prefer(`node/${x.node_id}`, second)
      expect(await fleet.call(fleet.root, `DELETE /v1/projects/${project}/resources/${second}`)).toMatchObject({
        status: 204,
      })
      await fleet.follow()
      expect(await relayTo(x)).toBe('203.0.113.1:51821')
      const { body } = await fleet.call(fleet.root, `GET /v1/objects/node/${x.node_id}/labels`)
      expect(body['items']).toMatchObject([{ qualified_key: 'platform/relay', value: second }])
      expect(await assigned()).toEqual([])
    })

    it('follow labels of the Project and the Domain, which nearer ones hide', async () => {
      const inside = await fleet.enrol(domain, {}, { project_id: project })
      await prefer(`domain/${domain}`, second)
      expect(await assigned()).toEqual([a, b, c, x, y, inside].map(({ node_id }) => node_id).toSorted())
      expect([await relayTo(x), await relayTo(inside)]).toEqual(['203.0.113.2:51900', '203.0.113.2:51900'])
      await prefer(`project/${project}`, first)
      expect([await relayTo(x), await relayTo(inside)]).toEqual(['203.0.113.2:51900', '203.0.113.1:51821'])
      expect(await assigned(first)).toEqual([inside.node_id])
      await prefer(`node/${inside.node_id}`, second)
      expect(await relayTo(inside)).toBe('203.0.113.2:51900')
      expect((await fleet.unprefer(`node/${inside.node_id}`)).status).toBe(204)
      expect((await fleet.call(fleet.root, `PATCH /v1/nodes/${inside.node_id}`, { project_id: null })).status).toBe(200)
      await fleet.follow()
      expect(await relayTo(inside)).toBe('203.0.113.2:51900')
      expect(await assigned(first)).toEqual([])
      expect((await fleet.call(fleet.root, `PATCH /v1/nodes/${x.node_id}`, { project_id: project })).status).toBe(200)
      await fleet.follow()
      expect([await relayTo(x), await assigned(first)]).toEqual(['203.0.113.1:51821', [x.node_id]])
    })

    it('follow nodes that register with a label, and those that inherit one', async () => {
      const labelled = await fleet.enrol(domain, {}, { labels: { 'platform/relay': second } })
      await fleet.follow()
      expect(await relayTo(labelled)).toBe('203.0.113.2:51900')
      await prefer(`domain/${domain}`, first)
      const inherits = await fleet.enrol(domain)
      await fleet.follow()
      expect(await assigned(first)).toContain(inherits.node_id)
      const stored = await fleet.db
        .selectFrom('relay_preferences')
        .select('resource_id')
        .where('node_id', '=', inherits.node_id)
        .execute()
      expect(stored).toEqual([{ resource_id: first }])
    })

    describe('take as a value only a bridge of the Domain that the caller may observe', () => {
      it.each([
        ['a text', 'edge-1'],
        ['nothing', ''],
        ['an unknown id', NOWHERE],
      ])('and not %s', async (_, value) => {
        for (const object of [`node/${x.node_id}`, `project/${project}`, `domain/${domain}`]) {
          const answer = await fleet.prefer(object, value)
          expect(refusalOf(answer)).toEqual([422, 'aggregate_invariant', REFUSAL])
        }
        const minted = await fleet.call(fleet.root, `POST /v1/domains/${domain}/join-tokens`, {
          labels: { 'platform/relay': value },
        })
        expect(refusalOf(minted)).toEqual([422, 'aggregate_invariant', REFUSAL])
        const patched = await fleet.call(fleet.root, `PATCH /v1/nodes/${x.node_id}`, {
          labels: { 'platform/relay': value },
        })
        expect(refusalOf(patched)).toEqual([422, 'aggregate_invariant', REFUSAL])
      })

      it('and no other resource, no bridge of another Domain, none in capitals, none that is hidden', async () => {
        const body = { kind: 'network', slug: 'net', display_name: 'Net', host_node_ids: [] }
        const made = await fleet.call(fleet.root, `POST /v1/projects/${project}/resources`, body)
        const elsewhere = await fleet.project(await fleet.domain())
        const operator = await fleet.holder(domain, 'operator', `node:${x.node_id}`)
        for (const value of [made.body['id'], await fleet.bridge(elsewhere, []), second.toUpperCase()])
          expect(refusalOf(await fleet.prefer(`node/${x.node_id}`, value))).toEqual([
            422,
            'aggregate_invariant',
            REFUSAL,
          ])
        const hidden = await fleet.prefer(`node/${x.node_id}`, second, operator)
        expect(refusalOf(hidden)).toEqual([422, 'aggregate_invariant', REFUSAL])
        await fleet.change(({ tuples }) =>
          tuples.create(
            { subject: operator, relation: 'viewer', resource: `resource:${second}` },
            { domainId: domain, projectId: project },
          ),
        )
        expect(await fleet.prefer(`node/${x.node_id}`, second, operator)).toMatchObject({ status: 200 })
      })
    })
  })
})
