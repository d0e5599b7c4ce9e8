import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { failingDatastore } from '../../support/datastores/failing-datastore.ts'
import type { Enrolled } from '../../support/fleet/fleet.ts'
import {
  startPullingReplica,
  startStatefulFleet,
  stateRows,
  type PulledState,
  type StatefulFleet,
} from '../../support/fleet/node-states.ts'
import { STORES } from '../../support/datastores/stores.ts'

describe.each(STORES)('The state of a node while the datastore is away, on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    const outage = failingDatastore()
    let fleet: StatefulFleet
    let rows: ReturnType<typeof stateRows>
    let domain: string
    let node: Enrolled
    let other: Enrolled
    let startMs: number
    beforeAll(async () => {
      fleet = await startStatefulFleet(store, outage)
      rows = stateRows(fleet)
      startMs = fleet.clock.nowMs
    }, 120_000)
    beforeEach(async () => {
      outage.isAway = false
      fleet.clock.nowMs = startMs
      domain = await fleet.domain()
      ;[node, other] = [await fleet.enrol(domain), await fleet.enrol(domain)]
    }, 180_000)
    afterAll(() => fleet.stop())

    const own = (ifNoneMatch?: string, of = node) => fleet.pull(of.nsk, of.node_id, ifNoneMatch)
    const codeOf = ({ status, body }: PulledState) => [status, body['code']]
    const degraded = ({ headers }: PulledState) => headers.get('x-service-degraded')
    const AWAY = [503, 'datastore_unavailable']

    async function goAway(afterMs = 0): Promise<void> {
      // What nodes pulled is stored behind the answers.
      await fleet.service.settled()
      fleet.clock.nowMs += afterMs
      outage.isAway = true
    }

    it('is what it was when the node pulled it last, says since when, and is audited', async () => {
      const fresh = await own()
      expect(degraded(fresh)).toBeNull()
      fleet.wait(10_000)
      await own(fresh.etag)
      await goAway(20_000)
      const stale = await own()
      expect([stale.status, stale.text, stale.etag]).toEqual([200, fresh.text, fresh.etag])
      expect(stale.headers.get('cache-control')).toBe('no-cache')
      // The last moment at which its credential was known to be good.
      expect(degraded(stale)).toBe('datastore; since=2026-03-01T08:00:10.000Z')
      expect(await fleet.audit(stale)).toMatchObject({
        relation: 'node_state.read',
        object: `node:${node.node_id}`,
        outcome: 'granted',
        reason: 'stale_cache',
      })
    })

    it('is not sent again to who has it', async () => {
      const { etag } = await own()
      await goAway()
      const same = await own(etag)
      expect([same.status, same.text, same.etag]).toEqual([304, '', etag])
      expect(degraded(same)).toBe('datastore; since=2026-03-01T08:00:00.000Z')
    })

    it('names the peers as any node of the Domain was told of them last', async () => {
      const before = await own()
      await rows.endpoint(domain, other.node_id, { host: '192.0.2.7', port: 7 })
      await fleet.pull(fleet.root, other.node_id)
      await goAway()
      const stale = await own(before.etag)
      expect([stale.status, stale.body['peers']]).toMatchObject([200, [{ endpoint: '192.0.2.7:7' }]])
      outage.isAway = false
      const fresh = await own(stale.etag)
      expect([fresh.status, degraded(fresh)]).toEqual([304, null])
    })

    it('lasts for the TTL since it was pulled or found unchanged', async () => {
      const { etag } = await own()
      fleet.wait(100_000)
      await own(etag)
      await goAway(300_000)
      expect(codeOf(await own())).toEqual([200, undefined])
      fleet.wait(1)
      expect(codeOf(await own())).toEqual(AWAY)
    })

    describe('of which another replica told the node', () => {
      let replica: Awaited<ReturnType<typeof startPullingReplica>>
      beforeAll(async () => {
        replica = await startPullingReplica(fleet)
      })
      afterAll(() => replica.stop())
      const elsewhere = (ifNoneMatch?: string) => replica.pull(node.nsk, node.node_id, ifNoneMatch)
      const moved = (port: number) => rows.endpoint(domain, other.node_id, { host: '192.0.2.7', port })

      it('is unavailable here, where the peers that are known are older', async () => {
        const here = await own()
        await moved(1)
        const there = await elsewhere(here.etag)
        fleet.wait(200_000)
        expect((await own(there.etag)).status).toBe(304)
        await goAway(200_000)
        expect(codeOf(await own(there.etag))).toEqual(AWAY)
        expect(codeOf(await own())).toEqual(AWAY)
      })

      it('is unavailable here, where what is the node’s own is older', async () => {
        const here = await own()
        await rows.report(node.node_id, 'k', 1)
        const there = await elsewhere(here.etag)
        await goAway()
        expect(codeOf(await own(there.etag))).toEqual(AWAY)
      })

      it('is given here once it was pulled here as well', async () => {
        await moved(2)
        const there = await elsewhere()
        const here = await own()
        await goAway()
        expect(await own()).toMatchObject({ status: 200, etag: here.etag, text: there.text })
        expect((await own(there.etag)).status).toBe(304)
      })
    })

    it('is kept for nodes of more Domains than pull at once', async () => {
      const { etag } = await own()
      for (let count = 0; count < 70; count++) {
        const { node_id, nsk } = await fleet.enrol(await fleet.domain())
        await fleet.pull(nsk, node_id)
      }
      await own(etag)
      await goAway()
      expect((await own()).status).toBe(200)
    })

    it('is unavailable for a node that has not pulled it, or not since it changed', async () => {
      await own()
      await fleet.beat(other)
      await goAway()
      expect(codeOf(await own(undefined, other))).toEqual(AWAY)
      expect(codeOf(await own('"x"', other))).toEqual(AWAY)
    })

    it('is shown to operators whose credential is good', async () => {
      const fresh = await own()
      await goAway()
      const stale = await fleet.pull(fleet.root, node.node_id)
      expect([stale.status, stale.text, degraded(stale)]).toEqual([
        200,
        fresh.text,
        'datastore; since=2026-03-01T08:00:00.000Z',
      ])
    })

    it('is refused to a key that was known to be revoked, and to one that nobody knows', async () => {
      await own()
      await fleet.call(fleet.root, `POST /v1/nodes/${node.node_id}/nsk/revoke`)
      expect(codeOf(await own())).toEqual([401, 'nsk_revoked'])
      await goAway()
      expect(codeOf(await own())).toEqual([401, 'nsk_revoked'])
      expect(codeOf(await fleet.pull(`${other.nsk.slice(0, -1)}x`, other.node_id))[0]).not.toBe(200)
    })

    it('is not given to a key that was revoked and not used since', async () => {
      await own()
      await fleet.call(fleet.root, `POST /v1/nodes/${node.node_id}/nsk/revoke`)
      await goAway()
      expect(codeOf(await own())).toEqual(AWAY)
    })

    it('lets in nobody for anything else', async () => {
      await own()
      await fleet.beat(node)
      await goAway()
      expect(await fleet.beat(node)).toMatchObject({ status: 503, body: { code: 'datastore_unavailable' } })
    })

    it('is read anew when the datastore is back', async () => {
      const before = await own()
      await goAway()
      await own()
      await rows.report(node.node_id, 'k', 1)
      expect((await own()).text).toBe(before.text)
      outage.isAway = false
      const after = await own(before.etag)
      expect([after.status, after.body['state/reports'], degraded(after)]).toEqual([200, { k: 1 }, null])
    })
  })
})
