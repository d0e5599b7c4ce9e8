import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createHeartbeatWriter } from '../../../src/server/slices/nodes/heartbeat-store.ts'
import { createReachabilitySweeper } from '../../../src/server/slices/nodes/reachability-sweeper.ts'
import { createRecoveryAnnouncer } from '../../../src/server/slices/nodes/recovery-announcer.ts'
import { startFleet, type Enrolled, type Fleet } from '../../support/fleet/fleet.ts'
import { unfenced } from '../../support/datastores/leading.ts'
import { STORES } from '../../support/datastores/stores.ts'

const START_MS = Date.parse('2026-03-01T08:00:00.000Z')

describe.each(STORES)('Changes of reachability on the $name store', (store) => {
  describe.skipIf(store.missing)('are announced', () => {
    let fleet: Fleet
    let domain: string
    let node: Enrolled
    beforeAll(async () => {
      fleet = await startFleet(store)
      domain = await fleet.domain()
    })
    beforeEach(async () => {
      fleet.clock.nowMs = START_MS
      await fleet.db.deleteFrom('nodes').execute()
      await fleet.db.deleteFrom('outbox').execute()
      node = await fleet.enrol(domain)
      await fleet.db.deleteFrom('outbox').execute()
    })
    afterAll(() => fleet.stop())

    const sweep = () => createReachabilitySweeper(fleet).run(unfenced(fleet))
    const announced = async () =>
      (await fleet.db.selectFrom('outbox').selectAll().orderBy('id').execute()).map(
        ({ event, domain_id, aggregate, payload }) => ({ event, domain_id, aggregate, payload }),
      )
    const changed = (from: string, to: string, at: string, nodeId = node.node_id) => ({
      event: 'NodeReachabilityChanged',
      domain_id: domain,
      aggregate: `node:${nodeId}`,
      payload: { node_id: nodeId, from, to, changed_at: at },
    })

    it('never of a node that has not reported, however long it is there', async () => {
      fleet.wait(24 * 60 * 60 * 1000)
      await sweep()
      expect(await announced()).toEqual([])
    })

    it('at each bound of silence, with the instant at which it was passed, and once', async () => {
      await fleet.beat(node)
      await sweep()
      fleet.wait(89_999)
      await sweep()
      expect(await announced()).toEqual([changed('never_reported', 'healthy', '2026-03-01T08:00:00.000Z')])
      fleet.wait(1)
      await sweep()
      await sweep()
      fleet.wait(210_000)
      await sweep()
      expect((await announced()).slice(1)).toEqual([
        changed('healthy', 'stale', '2026-03-01T08:01:30.000Z'),
        changed('stale', 'unreachable', '2026-03-01T08:05:00.000Z'),
      ])
    })

    it('not where a node went and came back between two sweeps', async () => {
      await fleet.beat(node)
      await sweep()
      fleet.wait(200_000)
      await fleet.beat(node)
      await sweep()
      expect(await announced()).toEqual([changed('never_reported', 'healthy', '2026-03-01T08:00:00.000Z')])
    })

    it('by one of two sweepers that meet', async () => {
      const nodes = [node, ...(await Promise.all(Array.from({ length: 9 }, () => fleet.enrol(domain))))]
      for (const each of nodes) await fleet.beat(each)
      await fleet.db.deleteFrom('outbox').execute()
      await Promise.all([sweep(), sweep(), sweep()])
      await sweep()
      expect((await announced()).map(({ aggregate }) => aggregate).toSorted()).toEqual(
        nodes.map(({ node_id }) => `node:${node_id}`).toSorted(),
      )
    })

    it('in batches, and a full one says that there may be more', async () => {
      for (let n = 0; n < 204; n++) await fleet.enrol(domain)
      await fleet.db
        .updateTable('node_heartbeats')
        .set({ accepted_at: new Date(START_MS) })
        .execute()
      await fleet.db.deleteFrom('outbox').execute()
      expect(await sweep()).toBe(true)
      expect(await announced()).toHaveLength(200)
      expect(await sweep()).toBe(false)
      expect(await announced()).toHaveLength(205)
    }, 180_000)

    it('behind the heartbeat that ended an outage, without a sweep, and not once more by one', async () => {
      const onFailure = vi.fn<(error: unknown) => void>()
      const announcer = createRecoveryAnnouncer({ ...fleet, onFailure })
      const write = createHeartbeatWriter(fleet.datastore, (nodeIds) => announcer.add(nodeIds))
      const beat = () =>
        write([
          {
            nodeId: node.node_id,
            acceptedAtMs: fleet.clock.nowMs,
            binaryVersion: '1',
            checksumHex: '00'.repeat(32),
            duePeerRevision: 0,
          },
        ])
      await beat()
      await announcer.settled()
      fleet.wait(400_000)
      await sweep()
      await beat()
      await announcer.settled()
      await sweep()
      fleet.wait(30_000)
      await beat()
      await announcer.settled()
      expect(await announced()).toEqual([
        changed('never_reported', 'healthy', '2026-03-01T08:00:00.000Z'),
        changed('healthy', 'unreachable', '2026-03-01T08:05:00.000Z'),
        changed('unreachable', 'healthy', '2026-03-01T08:06:40.000Z'),
      ])
      expect(onFailure).not.toHaveBeenCalled()
    })
  })
})
