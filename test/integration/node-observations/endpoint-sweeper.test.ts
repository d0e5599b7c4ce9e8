import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sweepEndpoints } from '../../../src/server/slices/node-observations/endpoint-sweeper.ts'
import { listOverdue } from '../../../src/server/slices/node-observations/stale-endpoint-store.ts'
import type { Enrolled } from '../../support/fleet/fleet.ts'
import { unfenced } from '../../support/datastores/leading.ts'
import { addNodes } from '../../support/fleet/many-nodes.ts'
import { startObservedFleet, type ObservedFleet } from '../../support/fleet/observed-fleet.ts'
import { STORES } from '../../support/datastores/stores.ts'

describe.each(STORES)('Endpoints that are not reported again on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
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
      await fleet.db.deleteFrom('nodes').execute()
      domain = await fleet.domain()
      node = await fleet.enrol(domain)
      await fleet.endpoint(node, '198.51.100.7:51820')
      await fleet.db.deleteFrom('outbox').execute()
    })
    afterAll(() => fleet.stop())

    const tombstone = (of: Enrolled = node) => ({
      domain_id: of.domain_id,
      aggregate: `node:${of.node_id}`,
      payload: { node_id: of.node_id, endpoint: '' },
    })
    const overdue = () => listOverdue(fleet.db, fleet.clock.nowMs, 100)
    const stamp = (found: Awaited<ReturnType<typeof overdue>>) =>
      sweepEndpoints({ ...fleet, ...unfenced(fleet) }, found)

    it('are stale once they are older than their Domain allows, and the peers are told once', async () => {
      const before = await fleet.revision(domain)
      fleet.wait(300_000)
      await fleet.sweep()
      expect(await fleet.endpointNews()).toEqual([])
      fleet.wait(1)
      await fleet.sweep()
      await fleet.sweep()
      expect(await fleet.endpointNews()).toEqual([tombstone()])
      expect(await fleet.revision(domain)).toBe(before + 1)
      expect(await fleet.storedEndpoint(node.node_id)).toMatchObject({
        last_endpoint: '198.51.100.7',
        last_endpoint_reported_at: new Date('2026-03-01T08:00:00.000Z'),
        last_endpoint_stale_at: new Date('2026-03-01T08:05:00.001Z'),
      })
    })

    it('are fresh again with the next report, and the peers are told although it is the same', async () => {
      fleet.wait(300_001)
      await fleet.sweep()
      await fleet.endpoint(node, '198.51.100.7:51820')
      expect((await fleet.endpointNews()).map(({ payload }) => payload)).toEqual([
        { node_id: node.node_id, endpoint: '' },
        { node_id: node.node_id, endpoint: '198.51.100.7:51820' },
      ])
      expect(await fleet.storedEndpoint(node.node_id)).toMatchObject({ last_endpoint_stale_at: null })
    })

    it('do not come back by a report that is no newer', async () => {
      await fleet.holdFor(domain, 30)
      fleet.wait(30_001)
      await fleet.sweep()
      await fleet.holdFor(domain, 300)
      const answer = await fleet.endpoint(node, '198.51.100.7:51820', { reported_at: fleet.instant(-30_001) })
      expect(answer).toMatchObject({ status: 200 })
      expect(await fleet.endpointNews()).toEqual([tombstone()])
      expect(await fleet.storedEndpoint(node.node_id)).toMatchObject({ last_endpoint_stale_at: expect.any(Date) })
    })

    it('stay fresh where a report came before the sweep', async () => {
      fleet.wait(300_001)
      await fleet.endpoint(node, '198.51.100.7:51820')
      await fleet.sweep()
      expect(await fleet.endpointNews()).toEqual([])
    })

    it.each(['198.51.100.7:51820', '198.51.100.8:51820'])(
      'stay fresh where a report of %s comes between listing and stamping',
      async (endpoint) => {
        fleet.wait(300_001)
        const found = await overdue()
        expect(found).toHaveLength(1)
        await fleet.endpoint(node, endpoint)
        const [news, revision] = [await fleet.endpointNews(), await fleet.revision(domain)]
        await stamp(found)
        expect(await fleet.storedEndpoint(node.node_id)).toMatchObject({ last_endpoint_stale_at: null })
        expect(await fleet.endpointNews()).toEqual(news)
        expect(await fleet.revision(domain)).toBe(revision)
      },
    )

    it('are told of once by two sweepers that have found the same', async () => {
      fleet.wait(300_001)
      const found = await overdue()
      await Promise.all([stamp(found), stamp(found), stamp(found)])
      expect(await fleet.endpointNews()).toEqual([tombstone()])
    })

    it('are passed over where the node goes between listing and stamping', async () => {
      fleet.wait(300_001)
      const found = await overdue()
      await fleet.call(fleet.root, `DELETE /v1/nodes/${node.node_id}`)
      await stamp(found)
      expect(await fleet.endpointNews()).toEqual([])
    })

    it('become stale by a TTL that is made shorter, and not by one that is made longer', async () => {
      const elsewhere = await fleet.domain()
      const other = await fleet.enrol(elsewhere)
      await fleet.endpoint(other, '203.0.113.4:51820')
      await fleet.db.deleteFrom('outbox').execute()
      await fleet.holdFor(domain, 30)
      await fleet.holdFor(elsewhere, 3_600)
      fleet.wait(30_001)
      await fleet.sweep()
      expect(await fleet.endpointNews()).toEqual([tombstone()])
      fleet.wait(600_000)
      await fleet.sweep()
      expect(await fleet.endpointNews()).toEqual([tombstone()])
      await fleet.holdFor(elsewhere, 300)
      await fleet.sweep()
      expect(await fleet.endpointNews()).toEqual([tombstone(), tombstone(other)])
    })

    it('are told of with the endpoint of the relay that carries their edges', async () => {
      const relay = await fleet.enrol(domain)
      fleet.wait(300_001)
      await fleet.endpoint(relay, '203.0.113.1:51820')
      await fleet.db
        .updateTable('domain_peers')
        .set({ relay_node_id: relay.node_id, relay_port: 51_821 })
        .where('domain_id', '=', domain)
        .execute()
      await fleet.db.deleteFrom('outbox').execute()
      await fleet.sweep()
      const payload = { node_id: node.node_id, endpoint: '', fallback_endpoint: '203.0.113.1:51821' }
      expect(await fleet.endpointNews()).toEqual([{ ...tombstone(), payload }])
    })

    it('are taken in batches, one revision for each Domain of a batch', async () => {
      const elsewhere = await fleet.domain()
      await reported(domain, 199)
      await reported(elsewhere, 5)
      const at = [await fleet.revision(domain), await fleet.revision(elsewhere)]
      fleet.wait(300_001)
      await fleet.db.deleteFrom('outbox').execute()
      expect(await fleet.sweep()).toBe(true)
      expect(await fleet.endpointNews()).toHaveLength(200)
      expect(await fleet.sweep()).toBe(false)
      expect(await fleet.endpointNews()).toHaveLength(205)
      expect([await fleet.revision(domain), await fleet.revision(elsewhere)]).toEqual(
        at.map((revision) => revision + 1),
      )
    })

    it('meet reports of the same nodes without a deadlock, and every node ends as its last event says', async () => {
      const nodes = [node, ...(await reported(domain, 19))]
      for (let round = 0; round < 5; round++) {
        fleet.wait(300_001)
        const reports = nodes.map((each, index) =>
          index % 2 === round % 2 ? fleet.endpoint(each, `203.0.113.${round + 1}:${index + 1}`) : undefined,
        )
        const answers = await Promise.all([...reports, fleet.sweep(), fleet.sweep()])
        for (const answer of answers) if (typeof answer === 'object') expect(answer.status).toBe(200)
        await fleet.sweep()
      }
      const last = new Map((await fleet.endpointNews()).map(({ aggregate, payload }) => [aggregate, payload]))
      for (const each of nodes) {
        const stored = await fleet.storedEndpoint(each.node_id)
        const isStale = stored?.['last_endpoint_stale_at'] !== null
        const endpoint = isStale ? '' : `${String(stored?.['last_endpoint'])}:${String(stored?.['last_endpoint_port'])}`
        expect(last.get(`node:${each.node_id}`)).toEqual({ node_id: each.node_id, endpoint })
      }
    })

    /** Nodes that have reported just now. */
    async function reported(domainId: string, count: number): Promise<Enrolled[]> {
      const nodes = await addNodes(fleet, domainId, count)
      const row = {
        domain_id: domainId,
        last_endpoint: '203.0.113.77',
        nat_type: 'cone',
        last_endpoint_reported_at: new Date(fleet.clock.nowMs),
        last_endpoint_stale_at: null,
      }
      await fleet.db
        .insertInto('node_endpoints')
        .values(nodes.map(({ node_id }, index) => ({ node_id, last_endpoint_port: index + 1, ...row })))
        .execute()
      return nodes
    }
  })
})
