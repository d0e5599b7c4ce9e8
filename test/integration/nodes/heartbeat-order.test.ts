import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createHeartbeatWriter } from '../../../src/server/slices/nodes/heartbeat-store.ts'
import { startFleet, type Fleet } from '../../support/fleet/fleet.ts'
import { gate } from '../../support/run/gate.ts'
import { addNodes } from '../../support/fleet/many-nodes.ts'
import { POSTGRES } from '../../support/datastores/stores.ts'

/** So few that the planner would rather read the whole table than look them up. */
const NODES = 30
const BATCH = 9

// On the embedded store batches take turns, so that none ever waits for another's lock.
describe('A batch of heartbeats on the postgres store', () => {
  describe.skipIf(POSTGRES.missing)('that meets another', () => {
    let fleet: Fleet
    beforeAll(async () => {
      fleet = await startFleet(POSTGRES)
    })
    afterAll(() => fleet?.stop())

    it('locks its rows in the order in which they were sent, wherever they lie', async () => {
      const { datastore, db } = fleet
      const nodes = await addNodes(fleet, await fleet.domain(), NODES)
      const ids = nodes.map(({ node_id }) => node_id).toSorted()
      for (const id of ids.toReversed())
        await sql`update node_heartbeats set announced_state = announced_state where node_id = ${id}`.execute(db)
      await sql`analyze node_heartbeats`.execute(db)
      const onDisk = await sql<{ node_id: string }>`select node_id from node_heartbeats order by ctid`.execute(db)
      expect(onDisk.rows.map(({ node_id }) => node_id)).toEqual(ids.toReversed())

      const beat = {
        acceptedAtMs: fleet.clock.nowMs,
        binaryVersion: '1',
        checksumHex: 'ab'.repeat(32),
        duePeerRevision: 0,
      }
      const [held, letGo] = [gate(), gate()]
      const other = datastore.transaction('interactive', async (tx) => {
        await sql`select from node_heartbeats where node_id = ${ids[0]} for update`.execute(tx)
        held.open()
        await letGo.passed
      })
      await held.passed
      const sent = ids.slice(0, BATCH)
      const written = createHeartbeatWriter(datastore)(sent.map((nodeId) => ({ ...beat, nodeId })))
      const waiting = async (): Promise<void> => {
        const { rows } = await sql`select from pg_stat_activity where wait_event_type = 'Lock'`.execute(db)
        expect(rows).toHaveLength(1)
      }
      await vi.waitFor(waiting, { timeout: 10_000 })
      const free = await sql<{ node_id: string }>`
        select node_id from node_heartbeats order by node_id for update skip locked`.execute(db)
      letGo.open()
      await other
      expect(free.rows.map(({ node_id }) => node_id)).toEqual(ids.slice(1))
      expect(await written).toHaveLength(BATCH)
    })
  })
})
