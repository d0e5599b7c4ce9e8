import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { failingDatastore } from '../../support/datastores/failing-datastore.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { freshPublicKey, type Enrolled } from '../../support/fleet/fleet.ts'
import { startStatefulFleet, type StatefulFleet } from '../../support/fleet/node-states.ts'

const FIRST = '2026-03-01T08:00:00.000000000Z'
const LATER = '2026-03-01T08:00:01.000000000Z'

interface SeenPeer {
  readonly node_id: string
  readonly name: string
}

describe.each(STORES)('What a node is shown of itself on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: StatefulFleet
    let startMs: number
    let domain: string
    let node: Enrolled
    let peer: Enrolled
    beforeAll(async () => {
      fleet = await startStatefulFleet(store, failingDatastore(), { surfaces: ['meshKeys'] })
      startMs = fleet.clock.nowMs
    }, 120_000)
    beforeEach(async () => {
      fleet.clock.nowMs = startMs
      const body = { slug: `s-${fleet.ids.next()}`, display_name: 'A Domain', mesh_cidr: '100.64.8.0/24' }
      domain = String((await fleet.call(fleet.root, 'POST /v1/domains', body)).body['id'])
      node = await fleet.enrol(domain, { name: 'web-1' })
      peer = await fleet.enrol(domain, { name: 'db-1' })
    }, 180_000)
    afterAll(() => fleet?.stop())

    const pull = (of: Enrolled, etag?: string) => fleet.pull(of.nsk, of.node_id, etag)
    const selfOf = async (of: Enrolled) => (await pull(of)).body['self']
    const namesSeenBy = async (of: Enrolled) =>
      ((await pull(of)).body['peers'] as readonly SeenPeer[]).map(({ name }) => name)
    const rename = (of: Enrolled, name: string) => fleet.call(fleet.root, `PATCH /v1/nodes/${of.node_id}`, { name })
    const own = () => ({ name: 'web-1', mesh_address: node.mesh_address, mesh_cidr: '100.64.8.0/24' })

    async function isToPull(of: Enrolled): Promise<unknown> {
      fleet.wait(1)
      return (await fleet.beat(of)).body['reconcile']
    }

    /** The tags of both nodes, each after its pull was recorded. */
    async function pulledTags(): Promise<readonly string[]> {
      const tags = [(await pull(node)).etag, (await pull(peer)).etag]
      await fleet.service.settled()
      return tags
    }

    it('is its name, its address, the mesh CIDR of its Domain and the instant of its key', async () => {
      expect(await selfOf(node)).toEqual({ ...own(), psk_issued_at: FIRST })
      expect(await selfOf(peer)).toMatchObject({ name: 'db-1', mesh_address: peer.mesh_address })
    })

    it('has the mesh CIDR that the registration and people are shown', async () => {
      const { token } = await fleet.token(domain)
      const { body } = await fleet.register(token)
      const shown = await fleet.call(fleet.root, `GET /v1/nodes/${node.node_id}`)
      expect([body['mesh_cidr'], shown.body['mesh_cidr']]).toEqual(['100.64.8.0/24', '100.64.8.0/24'])
    })

    describe('after a rename', () => {
      it('has the new name, as the state of each peer has, and both states have other tags', async () => {
        const [ownTag, peerTag] = await pulledTags()
        expect((await rename(node, 'web-9')).status).toBe(200)
        expect((await pull(node, ownTag)).status).toBe(200)
        expect((await pull(peer, peerTag)).status).toBe(200)
        expect(await selfOf(node)).toEqual({ ...own(), name: 'web-9', psk_issued_at: FIRST })
        expect(await namesSeenBy(peer)).toEqual(['web-9'])
      })

      it('is announced to the peers with the name, and to the node as a change of its own', async () => {
        const answer = await rename(node, 'web-9')
        const where = { domain_id: domain, aggregate: `node:${node.node_id}` }
        expect(await fleet.outbox(answer)).toEqual([
          { event: 'peer_renamed', ...where, payload: { node_id: node.node_id, name: 'web-9' } },
          { event: 'node_renamed', ...where, payload: { node_id: node.node_id } },
        ])
      })

      it('asks the node to pull with its next heartbeat, and its peers not yet', async () => {
        await pulledTags()
        expect([await isToPull(node), await isToPull(peer)]).toEqual([false, false])
        await rename(node, 'web-9')
        expect([await isToPull(node), await isToPull(peer)]).toEqual([true, false])
        await pulledTags()
        expect(await isToPull(node)).toBe(false)
      })

      it.each([
        ['the name of another node', 'db-1', 409],
        ['the name that it has', 'web-1', 200],
      ])('to %s changes nothing', async (_, name, status) => {
        const [ownTag, peerTag] = await pulledTags()
        const answer = await rename(node, name)
        expect([answer.status, await fleet.outbox(answer)]).toEqual([status, []])
        expect([(await pull(node, ownTag)).status, (await pull(peer, peerTag)).status]).toEqual([304, 304])
        expect(await isToPull(node)).toBe(false)
      })

      it('is another tag for the nodes that see the node, and for no others', async () => {
        const stranger = await fleet.enrol(await fleet.domain(), { name: 'web-1' })
        const { etag } = await pull(stranger)
        await rename(node, 'web-9')
        expect((await pull(stranger, etag)).status).toBe(304)
      })
    })

    it('shows the new key after a rotation under another tag, without asking for a pull', async () => {
      await fleet.call(fleet.root, `POST /v1/nodes/${node.node_id}/keys/rotate`)
      const [ownTag] = await pulledTags()
      fleet.wait(1_000)
      const { status, body } = await fleet.call(node.nsk, 'POST /v1/keys/rotate', { public_key: freshPublicKey() })
      expect([status, body['psk_issued_at']]).toEqual([200, LATER])
      expect(await isToPull(node)).toBe(false)
      const after = await pull(node, ownTag)
      expect([after.status, after.body['self']]).toEqual([200, { ...own(), psk_issued_at: LATER }])
    })

    it('shows the new key after a second enrolment under another tag, and the name that the node kept', async () => {
      const [ownTag] = await pulledTags()
      fleet.wait(1_000)
      const { token } = await fleet.token(domain, { node_id: node.node_id })
      const { body } = await fleet.register(token, { name: 'unused' })
      expect([body['mesh_cidr'], body['psk_issued_at']]).toEqual(['100.64.8.0/24', LATER])
      const reborn = { ...node, nsk: String(body['nsk']) }
      const after = await pull(reborn, ownTag)
      expect([after.status, after.body['self']]).toEqual([200, { ...own(), psk_issued_at: LATER }])
    })
  })
})
