import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Enrolled } from '../../support/fleet/fleet.ts'
import { addNodes } from '../../support/fleet/many-nodes.ts'
import { startObservedFleet, type ObservedFleet } from '../../support/fleet/observed-fleet.ts'
import { STORES } from '../../support/datastores/stores.ts'

const NODES = 500

describe.each(STORES)('A herd of endpoints on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let fleet: ObservedFleet
    beforeAll(async () => {
      fleet = await startObservedFleet(store)
    })
    afterAll(() => fleet?.stop())

    /** A node whose key could not be looked up in time, on a machine that is busy, asks again; nothing else may fail. */
    async function reportAll(reports: readonly (readonly [Enrolled, string])[], tries = 5): Promise<void> {
      const answers = await Promise.all(reports.map(([node, endpoint]) => fleet.endpoint(node, endpoint)))
      const statuses = new Set(answers.map(({ status }) => status))
      expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([])
      const again = reports.filter((_, index) => answers[index]?.status === 503)
      expect(tries).toBeGreaterThan(0)
      if (again.length > 0) await reportAll(again, tries - 1)
    }

    it('is taken without an error, and each change has its event', async () => {
      const domain = await fleet.domain()
      const nodes = await addNodes(fleet, domain, NODES)
      // Keys that are known are what a fleet has that has been running for a while.
      for (let at = 0; at < NODES; at += 25) {
        const beats = await Promise.all(nodes.slice(at, at + 25).map((node) => fleet.beat(node)))
        expect(beats.every(({ status }) => status === 200)).toBe(true)
      }
      for (const round of [1, 2]) {
        fleet.wait(1_000)
        await reportAll(nodes.map((node, index) => [node, `203.0.113.${round}:${index + 1}`]))
        expect(await fleet.endpointNews()).toHaveLength(NODES * round)
      }
      const told = new Map((await fleet.endpointNews()).map(({ payload, aggregate }) => [aggregate, payload]))
      for (const [index, { node_id }] of nodes.entries())
        expect(told.get(`node:${node_id}`)).toEqual({ node_id, endpoint: `203.0.113.2:${index + 1}` })
      const granted = await fleet.db
        .selectFrom('audit')
        .select(['object', 'correlation_id'])
        .where('relation', '=', 'node_endpoint.record')
        .where('outcome', '=', 'granted')
        .execute()
      expect(granted).toHaveLength(NODES * 2)
      expect(new Set(granted.map(({ object }) => object)).size).toBe(NODES)
      expect(new Set(granted.map(({ correlation_id }) => correlation_id)).size).toBe(NODES * 2)
      expect(fleet.audited.filter(({ outcome }) => outcome === 'granted')).toEqual([])
    }, 120_000)
  })
})
