import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addNodes } from '../../support/many-nodes.ts'
import { startObservedFleet, type ObservedFleet } from '../../support/observed-fleet.ts'
import { STORES } from '../../support/stores.ts'

const NODES = 500

describe.each(STORES)('A herd of endpoints on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let fleet: ObservedFleet
    beforeAll(async () => {
      fleet = await startObservedFleet(store)
    })
    afterAll(() => fleet?.stop())

    it('is taken without an error, and each change has its event and its revision', async () => {
      const domain = await fleet.domain()
      const nodes = await addNodes(fleet, domain, NODES)
      await fleet.db.deleteFrom('outbox').execute()
      for (const round of [1, 2]) {
        fleet.wait(1_000)
        const began = performance.now()
        const answers = await Promise.all(
          nodes.map((node, index) => fleet.endpoint(node, `203.0.113.${round}:${index + 1}`)),
        )
        const ms = Math.round(performance.now() - began)
        console.log(`${NODES} changed endpoints on the ${store.name} store: ${ms} ms`)
        expect(answers.filter(({ status }) => status !== 200)).toEqual([])
        expect(await fleet.endpointNews()).toHaveLength(NODES * round)
        expect(await fleet.revision(domain)).toBe(NODES * round)
      }
      const told = new Map((await fleet.endpointNews()).map(({ payload, aggregate }) => [aggregate, payload]))
      for (const [index, { node_id }] of nodes.entries())
        expect(told.get(`node:${node_id}`)).toEqual({ node_id, endpoint: `203.0.113.2:${index + 1}` })
      const audited = await fleet.db
        .selectFrom('audit')
        .select((on) => on.fn.countAll<string>().as('rows'))
        .where('relation', '=', 'node_endpoint.record')
        .where('outcome', '=', 'granted')
        .executeTakeFirstOrThrow()
      expect(Number(audited.rows)).toBe(NODES * 2)
    }, 120_000)
  })
})
