import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createEndpointSweeper } from '../../../src/server/slices/node-observations/endpoint-sweeper.ts'
import { createSubnetChoice } from '../../../src/server/slices/mesh/subnet-choice.ts'
import { unfenced } from '../../support/datastores/leading.ts'
import { STORES } from '../../support/datastores/stores.ts'
import type { Enrolled } from '../../support/fleet/fleet.ts'
import { startRelayedFleet, type RelayedFleet } from '../../support/fleet/relayed-fleet.ts'

interface Peer {
  readonly node_id: string
  readonly endpoint: string
  readonly candidates?: readonly string[]
  readonly subnets?: readonly string[]
}

const LOCAL = ['192.168.1.7:51820', '[2001:db8::7]:51820']

describe.each(STORES)('On the $name store', (store) => {
  describe.skipIf(store.missing)('peers get', () => {
    let fleet: RelayedFleet
    let domain: string
    let project: string
    let a: Enrolled
    let b: Enrolled
    let x: Enrolled
    beforeAll(async () => {
      fleet = await startRelayedFleet(store)
    }, 180_000)
    beforeEach(async () => {
      domain = await fleet.domain()
      project = await fleet.project(domain)
      ;[a, b, x] = (await fleet.reachable(domain, 3)) as [Enrolled, Enrolled, Enrolled]
      await settle()
    })
    afterAll(() => fleet?.stop())

    async function settle(): Promise<void> {
      while (await createSubnetChoice(fleet).run(unfenced(fleet)));
      await fleet.follow()
      fleet.wait(2_000)
      await fleet.events.settle()
      expect(fleet.events.poison).toEqual([])
    }

    const report = (node: Enrolled, members: object = {}) => {
      fleet.wait(1)
      const reported = { endpoint: '198.51.100.7:51820', nat_type: 'unknown', candidates: LOCAL, ...members }
      const body = { ...reported, reported_at: new Date(fleet.clock.nowMs).toISOString() }
      return fleet.call(node.nsk, `PUT /v1/nodes/${node.node_id}/endpoint`, body)
    }

    /** How the node sees the other one. */
    async function seenBy({ nsk, node_id: id }: Enrolled, other: Enrolled): Promise<Peer | undefined> {
      const { body } = await fleet.call(nsk, `GET /v1/nodes/${id}/state`)
      return (body['peers'] as readonly Peer[]).find(({ node_id }) => node_id === other.node_id)
    }

    /** The changes of peers that the node is sent meanwhile. */
    async function sentTo({ node_id: id }: Enrolled, done: () => Promise<unknown>): Promise<readonly unknown[]> {
      const before = fleet.events.received(id).length
      await done()
      await settle()
      const payloads = fleet.events.received(id).slice(before)
      return payloads.flatMap(([type, payload]) =>
        type === 'node_state_updated' ? (payload as { readonly peers: readonly unknown[] }).peers : [],
      )
    }

    describe('the candidates of a node', () => {
      it('in their order and in one spelling, with its endpoint, in the state and in a hint', async () => {
        const sent = await sentTo(x, () => report(a, { candidates: [LOCAL[0], '[2001:DB8:0::7]:51820'] }))
        const reached = { endpoint: '198.51.100.7:51820', candidates: LOCAL }
        expect(sent).toEqual([{ node_id: a.node_id, changes: ['endpoint_changed'], ...reached }])
        expect(await seenBy(x, a)).toMatchObject(reached)
        expect(await seenBy(x, b)).not.toHaveProperty('candidates')
      })

      it('once more only where they are others', async () => {
        await report(a)
        await settle()
        expect(await sentTo(x, () => report(a))).toEqual([])
        const none = await sentTo(x, () => report(a, { candidates: undefined }))
        expect(none).toEqual([{ node_id: a.node_id, changes: ['endpoint_changed'], endpoint: '198.51.100.7:51820' }])
        expect(await seenBy(x, a)).not.toHaveProperty('candidates')
      })

      it('until the endpoint is stale', async () => {
        await report(a)
        await settle()
        const stale = await sentTo(x, async () => {
          fleet.wait(301_000)
          await createEndpointSweeper(fleet).run(unfenced(fleet))
        })
        expect(stale).toEqual([{ node_id: a.node_id, changes: ['endpoint_changed'], endpoint: '' }])
        expect(await seenBy(x, a)).toMatchObject({ endpoint: '' })
        expect(await seenBy(x, a)).not.toHaveProperty('candidates')
      })

      it('beside the public address that a peer sees, although its neighbour sees it at one of them', async () => {
        await report(a, { endpoint: LOCAL[0] })
        const sees = (observer: Enrolled, endpoint: string) => {
          const body = { observed: [{ peer_node_id: a.node_id, endpoint }], reported_at: new Date(fleet.clock.nowMs) }
          return fleet.call(observer.nsk, `PUT /v1/nodes/${observer.node_id}/observed-endpoints`, body)
        }
        expect(await sees(x, '203.0.113.9:40007')).toMatchObject({ status: 200 })
        expect(await sees(b, '192.168.1.7:51820')).toMatchObject({ status: 200 })
        expect(await seenBy(x, a)).toMatchObject({ endpoint: '203.0.113.9:40007', candidates: LOCAL })
      })

      it.each([
        ['nine', Array.from({ length: 9 }, (_, index) => `10.0.0.${index + 1}:1`), 'invalid_body'],
        ['one twice', ['10.0.0.1:1', '10.0.0.1:1'], 'invalid_body'],
        ['loopback', ['127.0.0.1:51820'], 'endpoint_unparseable'],
        ['a link-local address', ['[fe80::1]:51820'], 'endpoint_unparseable'],
        ['a link-local IPv4 address', ['169.254.1.1:51820'], 'endpoint_unparseable'],
        ['multicast', ['[ff02::1]:51820'], 'endpoint_unparseable'],
        ['an address of the mesh', ['100.64.0.9:51820'], 'endpoint_unparseable'],
        ['a name', ['vpn.example.org:51820'], 'endpoint_unparseable'],
      ])('not where there is %s: the report is refused', async (_, candidates, code) => {
        expect(await report(a, { candidates })).toMatchObject({ status: 400, body: { code } })
        expect(await seenBy(x, a)).toMatchObject({ endpoint: '' })
      })
    })

    describe('the subnets of tunnels', () => {
      const hosting = async (hosts: readonly Enrolled[]) => {
        const ids = hosts.map(({ node_id }) => node_id)
        const id = await fleet.bridge(project, ids)
        // A relay that comes or goes asks every node to pull.
        await fleet.db.deleteFrom('bridge_relays').where('resource_id', '=', id).execute()
        return id
      }
      const stored = (bridge: string, slug: string, subnets: readonly string[]) =>
        fleet.db
          .insertInto('bridge_tunnels')
          .values({
            resource_id: bridge,
            slug,
            kind: 'wireguard',
            remote_host: 'vpn.example.org',
            remote_port: 51_820,
            auth_secret_ref: 'secret:d/p/hq',
            allowed_subnets: [...subnets],
            routing_policy: 'bidirectional',
            created_at: new Date(fleet.clock.nowMs),
            updated_at: new Date(fleet.clock.nowMs),
          })
          .execute()
      const changed = ({ node_id }: Enrolled, subnets: readonly string[]) => {
        return { node_id, changes: ['subnets_changed'], subnets }
      }

      it('that a node hosts, sorted and without those inside of others, until the tunnel is gone', async () => {
        const bridge = await hosting([a])
        const sent = await sentTo(x, async () => {
          await stored(bridge, 'hq', ['10.20.0.0/16', '10.20.7.0/24', 'fd00:7::/64'])
          await stored(bridge, 'annex', ['10.0.0.0/24'])
        })
        const subnets = ['10.0.0.0/24', '10.20.0.0/16', 'fd00:7::/64']
        expect(sent).toEqual([changed(a, subnets)])
        expect(await seenBy(x, a)).toMatchObject({ subnets })
        expect(await seenBy(x, b)).not.toHaveProperty('subnets')
        expect(await sentTo(x, async () => undefined)).toEqual([])
        const gone = await sentTo(x, () => fleet.db.deleteFrom('bridge_tunnels').execute())
        expect(gone).toEqual([changed(a, [])])
        expect(await seenBy(x, a)).not.toHaveProperty('subnets')
      })

      it('of the devices of people, beside those of tunnels', async () => {
        const bridge = await hosting([a])
        await stored(bridge, 'hq', ['10.20.0.0/16'])
        await fleet.db
          .insertInto('bridge_user_access')
          .values({
            resource_id: bridge,
            slug: 'staff',
            kind: 'wireguard',
            interface_name: 'wg-staff',
            listen_port: 51_830,
            max_peers: 5,
            auth_secret_ref: 'secret:d/p/staff',
            routing_policy: '{}',
            peer_subnet: '10.77.0.0/24',
            created_at: new Date(fleet.clock.nowMs),
            updated_at: new Date(fleet.clock.nowMs),
          })
          .execute()
        await settle()
        expect(await seenBy(x, a)).toMatchObject({ subnets: ['10.20.0.0/16', '10.77.0.0/24'] })
      })

      it('from the reachable host with the lowest id, and from the lowest one where none is reachable', async () => {
        await stored(await hosting([a, b]), 'hq', ['10.20.0.0/16'])
        await settle()
        expect(await seenBy(x, a)).toMatchObject({ subnets: ['10.20.0.0/16'] })
        const moved = await sentTo(x, () => fleet.announced([a.node_id], 'unreachable'))
        expect(moved).toEqual([changed(a, []), changed(b, ['10.20.0.0/16'])])
        expect(await sentTo(x, () => fleet.announced([b.node_id], 'unreachable'))).toEqual([
          changed(a, ['10.20.0.0/16']),
          changed(b, []),
        ])
      })

      it('of the bridge with the lowest id where two overlap, and none that has addresses of the mesh', async () => {
        const [first, second] = [await hosting([b]), await hosting([a])]
        await stored(second, 'hq', ['10.20.7.0/24', '10.30.0.0/16', '100.64.0.0/16'])
        await stored(first, 'hq', ['10.20.0.0/16'])
        await settle()
        expect(await seenBy(x, b)).toMatchObject({ subnets: ['10.20.0.0/16'] })
        expect(await seenBy(x, a)).toMatchObject({ subnets: ['10.30.0.0/16'] })
      })

      it('inside of the networks that the Domain lets bridges lead to, from the moment that it does', async () => {
        const [first, second] = [await hosting([b]), await hosting([a])]
        await stored(first, 'hq', ['0.0.0.0/0', '203.0.113.0/24', '10.20.0.0/16'])
        await stored(second, 'hq', ['203.0.113.128/25', '172.0.0.0/8', '172.20.0.0/16'])
        await settle()
        expect(await seenBy(x, b)).toMatchObject({ subnets: ['10.20.0.0/16'] })
        expect(await seenBy(x, a)).toMatchObject({ subnets: ['172.20.0.0/16'] })
        const allow = (routed_networks: readonly string[]) =>
          fleet.call(fleet.root, `PATCH /v1/domains/${domain}`, { routed_networks })
        const added = await sentTo(x, () => allow(['203.0.113.0/24', '10.0.0.0/8']))
        expect(added).toEqual([changed(a, []), changed(b, ['10.20.0.0/16', '203.0.113.0/24'])])
        expect(await sentTo(x, () => allow([]))).toEqual([changed(b, [])])
        expect(await seenBy(x, b)).not.toHaveProperty('subnets')
      })

      it('of the next host once one is deregistered', async () => {
        await stored(await hosting([a, b]), 'hq', ['10.20.0.0/16'])
        await settle()
        await fleet.call(fleet.root, `DELETE /v1/nodes/${a.node_id}`)
        await settle()
        expect(await seenBy(x, b)).toMatchObject({ subnets: ['10.20.0.0/16'] })
      })

      it('of other Domains where those of one cannot be chosen', async () => {
        const broken = await fleet.domain()
        const brokenProject = await fleet.project(broken)
        const [host] = (await fleet.reachable(broken, 1)) as [Enrolled]
        await settle()
        await stored(await fleet.bridge(brokenProject, [host.node_id]), 'hq', ['10.20.0.0/16'])
        // No server writes that; what a pass cannot read is as good as any other failure.
        await fleet.db.updateTable('domains').set({ routed_networks: '["none"]' }).where('id', '=', broken).execute()
        await stored(await hosting([a]), 'hq', ['10.20.0.0/16'])
        const job = createSubnetChoice(fleet)
        const failing = job.run(unfenced(fleet))
        await expect(failing).rejects.toThrow(`subnet-choice failed in the Domain ${broken}`)
        expect(await seenBy(x, a)).toMatchObject({ subnets: ['10.20.0.0/16'] })
        // It rests: the next pass does not fail for it.
        await expect(job.run(unfenced(fleet))).resolves.toBe(false)
        await fleet.db.updateTable('domains').set({ routed_networks: '[]' }).where('id', '=', broken).execute()
        await settle()
      })

      it('by a pull where they are more than a hint lists', async () => {
        const bridge = await hosting([a])
        const subnets = Array.from({ length: 600 }, (_, index) => `10.${index >> 8}.${index & 255}.0/24`)
        const before = fleet.events.received(x.node_id).length
        await stored(bridge, 'hq', subnets)
        await settle()
        expect(fleet.events.received(x.node_id).slice(before)).toEqual([
          ['node_state_updated', { reason: 'resync', blocks: ['peers'], peers: [] }],
        ])
        expect((await seenBy(x, a))?.subnets).toHaveLength(600)
      })
    })
  })
})
