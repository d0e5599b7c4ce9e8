import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { peersChanged } from '../../../src/server/sql/state-revisions.ts'
import { startMeshFleet, type MeshFleet } from '../../support/fleet/mesh-fleet.ts'
import { STORES } from '../../support/datastores/stores.ts'

describe.each(STORES)('The choice of relays on the $name store', (store) => {
  describe.skipIf(store.missing)('made by the leader', () => {
    let fleet: MeshFleet
    let domain: string
    /** Three nodes in reach, by id. */
    let a: string
    let b: string
    let c: string
    beforeAll(async () => {
      fleet = await startMeshFleet(store)
    })
    beforeEach(async () => {
      domain = await fleet.domain()
      ;[a = '', b = '', c = ''] = await reachable(3)
    })
    afterAll(() => fleet.stop())

    async function reachable(count: number): Promise<string[]> {
      const enrolled: string[] = []
      for (let n = 0; n < count; n++) enrolled.push((await fleet.enrol(domain)).node_id)
      await fleet.announced(enrolled, 'healthy')
      return enrolled
    }

    const peers = async () => {
      const row = await fleet.db
        .selectFrom('domain_peers')
        .selectAll()
        .where('domain_id', '=', domain)
        .executeTakeFirstOrThrow()
      return { relays: [row.relay_node_id, row.second_relay_node_id], row }
    }
    const chosen = async () => {
      expect(await fleet.choose()).toBe(false)
      return (await peers()).relays
    }

    it('is nobody where there is no relay', async () => {
      expect(await chosen()).toEqual([null, null])
    })

    it('is the host of a relay, and of two relays the lowest id and then the next', async () => {
      await fleet.relay(domain, [c])
      expect(await chosen()).toEqual([c, null])
      await fleet.relay(domain, [b, c])
      expect(await chosen()).toEqual([b, c])
      await fleet.relay(domain, [c, a])
      expect(await chosen()).toEqual([a, b])
    })

    it.each([
      ['stale', 'a'],
      ['unreachable', 'b'],
      ['never_reported', 'b'],
    ])('where the lowest host is announced as %s is %s', async (state, expected) => {
      await fleet.relay(domain, [a, b])
      expect(await chosen()).toEqual([a, b])
      await fleet.announced([a], state)
      expect((await chosen())[0]).toBe({ a, b }[expected])
      await fleet.announced([a], 'healthy')
      expect(await chosen()).toEqual([a, b])
    })

    it('passes over relays that are switched off, and those of other Domains', async () => {
      const relay = await fleet.relay(domain, [a])
      await fleet.relay(domain, [b])
      await fleet.enable(relay, false)
      expect(await chosen()).toEqual([b, null])
      const mine = domain
      domain = await fleet.domain()
      await reachable(1)
      expect(await chosen()).toEqual([null, null])
      domain = mine
      await fleet.enable(relay, true)
      expect(await chosen()).toEqual([a, b])
    })

    it('goes on to the next host when one is deregistered, and to nobody after the last', async () => {
      await fleet.relay(domain, [a, b])
      await chosen()
      for (const [gone, next] of [
        [a, b],
        [b, null],
      ] as const) {
        expect(await fleet.call(fleet.root, `DELETE /v1/nodes/${gone}`)).toMatchObject({ status: 204 })
        expect(await chosen()).toEqual([next, null])
      }
    })

    it('follows the resource: without it, and without its host, there is no relay', async () => {
      const relay = await fleet.relay(domain, [a])
      expect(await chosen()).toEqual([a, null])
      await fleet.db.deleteFrom('resource_hosts').where('resource_id', '=', relay).execute()
      expect(await chosen()).toEqual([null, null])
    })

    it('raises the whole revision of the Domain when it changes, and nothing when it does not', async () => {
      await chosen()
      const before = (await peers()).row
      await chosen()
      expect((await peers()).row).toEqual(before)
      await fleet.relay(domain, [a])
      await chosen()
      const after = (await peers()).row
      expect(BigInt(after.revision)).toBe(BigInt(before.revision) + 1n)
      expect(after.whole_revision).toBe(after.revision)
      await chosen()
      expect((await peers()).row).toEqual(after)
    })

    it('raises it once where several pass at once', async () => {
      await fleet.relay(domain, [a])
      const before = (await peers()).row
      await Promise.all([fleet.choose(), fleet.choose(), fleet.choose()])
      const { relays, row } = await peers()
      expect(relays).toEqual([a, null])
      expect(BigInt(row.revision)).toBe(BigInt(before.revision) + 1n)
    })

    it('makes a change of what a relay is reached by a change of the whole, and of no other node', async () => {
      await fleet.relay(domain, [a, b])
      await chosen()
      const changed = async (nodeIds: readonly string[]) => {
        await fleet.datastore.transaction('worker', (tx) => peersChanged(tx, domain, nodeIds))
        const { revision, whole_revision: whole } = (await peers()).row
        return whole === revision
      }
      expect([await changed([c]), await changed([a]), await changed([c]), await changed([c, b])]).toEqual([
        false,
        true,
        false,
        true,
      ])
    })

    it('is made for many Domains in bounded passes', async () => {
      const domains: string[] = []
      for (let n = 0; n < 51; n++) {
        domains.push((domain = await fleet.domain()))
        const [host = ''] = await reachable(1)
        await fleet.relay(domain, [host])
      }
      expect(await fleet.choose()).toBe(true)
      expect(await fleet.choose()).toBe(false)
      const rows = await fleet.db
        .selectFrom('domain_peers')
        .select('domain_id')
        .where('relay_node_id', 'is not', null)
        .where('domain_id', 'in', domains)
        .execute()
      expect(rows).toHaveLength(51)
    }, 180_000)
  })
})
