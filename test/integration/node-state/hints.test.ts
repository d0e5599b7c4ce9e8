import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createPeerMarker } from '../../../src/server/slices/nodes/peer-marker.ts'
import type { Enrolled } from '../../support/fleet/fleet.ts'
import { unfenced } from '../../support/datastores/leading.ts'
import { startStatefulFleet, stateRows, type StatefulFleet } from '../../support/fleet/node-states.ts'
import { STORES } from '../../support/datastores/stores.ts'

const MINUTE_MS = 60_000

describe.each(STORES)('What a heartbeat asks of its node, on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: StatefulFleet
    let rows: ReturnType<typeof stateRows>
    let domain: string
    let node: Enrolled
    let startMs: number
    beforeAll(async () => {
      fleet = await startStatefulFleet(store)
      rows = stateRows(fleet)
      startMs = fleet.clock.nowMs
    }, 120_000)
    beforeEach(async () => {
      fleet.clock.nowMs = startMs
      await fleet.db.deleteFrom('domain_peer_marks').execute()
      await fleet.readMarks()
      domain = await fleet.domain()
      node = await fleet.enrol(domain)
    }, 180_000)
    afterAll(() => fleet.stop())

    const mark = () => createPeerMarker(fleet).run(unfenced(fleet))
    const marks = () =>
      fleet.db
        .selectFrom('domain_peer_marks')
        .select(['at', 'revision'])
        .where('domain_id', '=', domain)
        .orderBy('at')
        .execute()

    async function pull(): Promise<void> {
      expect((await fleet.pull(node.nsk, node.node_id)).status).toBe(200)
      await fleet.service.settled()
    }

    async function hints() {
      fleet.wait(1)
      const { reconcile, rotate_keys } = (await fleet.beat(node)).body
      return { reconcile, rotate_keys }
    }

    it('is to pull until it has pulled', async () => {
      expect(await hints()).toEqual({ reconcile: true, rotate_keys: false })
      expect(await hints()).toEqual({ reconcile: true, rotate_keys: false })
      await pull()
      expect(await hints()).toEqual({ reconcile: false, rotate_keys: false })
    })

    it('is to pull once it has enrolled again: whoever has the new key has pulled nothing', async () => {
      await pull()
      const { token } = await fleet.token(domain, { node_id: node.node_id })
      node = { ...node, nsk: String((await fleet.register(token)).body['nsk']) }
      expect(await hints()).toEqual({ reconcile: true, rotate_keys: false })
      await pull()
      expect(await hints()).toEqual({ reconcile: false, rotate_keys: false })
    })

    it('is to pull when something of its own changed, unless it said so itself', async () => {
      await pull()
      await rows.report(node.node_id, 'k', 1)
      expect(await hints()).toMatchObject({ reconcile: false })
      await rows.execution({ nodeId: node.node_id, domainId: domain }, null)
      expect(await hints()).toMatchObject({ reconcile: true })
      await rows.report(node.node_id, 'k', 2)
      expect(await hints()).toMatchObject({ reconcile: true })
      await pull()
      expect(await hints()).toMatchObject({ reconcile: false })
    })

    it('is to rotate its keys while a rotation waits for it', async () => {
      const waits = (rotation_pending: boolean) =>
        fleet.db.updateTable('node_heartbeats').set({ rotation_pending }).where('node_id', '=', node.node_id).execute()
      await waits(true)
      expect(await hints()).toEqual({ reconcile: true, rotate_keys: true })
      await pull()
      expect(await hints()).toEqual({ reconcile: false, rotate_keys: true })
      await waits(false)
      expect(await hints()).toEqual({ reconcile: false, rotate_keys: false })
    })

    it('is to pull when it has not heard of its peers for 5 to 6 minutes', async () => {
      await pull()
      await fleet.enrol(domain)
      await mark()
      await fleet.readMarks()
      fleet.wait(5 * MINUTE_MS - 2)
      expect(await hints()).toMatchObject({ reconcile: false })
      fleet.wait(MINUTE_MS)
      expect(await hints()).toMatchObject({ reconcile: true })
      await pull()
      expect(await hints()).toMatchObject({ reconcile: false })
    })

    it('is not asked for what it pulled, although the rest of the Domain changed since', async () => {
      await fleet.enrol(domain)
      await mark()
      await pull()
      fleet.wait(7 * MINUTE_MS)
      await fleet.enrol(domain)
      await mark()
      await fleet.readMarks()
      expect(await hints()).toMatchObject({ reconcile: false })
    })

    it('rests on marks that are made where something changed, and kept for 15 minutes or until the next', async () => {
      await mark()
      fleet.wait(30_000)
      await mark()
      expect(await marks()).toEqual([{ at: new Date(startMs), revision: '1' }])
      fleet.wait(16 * MINUTE_MS)
      await mark()
      expect(await marks()).toHaveLength(1)
      await fleet.enrol(domain)
      await mark()
      expect(await marks()).toEqual([{ at: new Date(fleet.clock.nowMs), revision: '2' }])
    })
  })
})
