import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { contract } from '../../src/shared/contract/index.ts'
import type { Operation } from '../../src/shared/contract/operation.ts'
import { problemCodesOf } from '../../src/shared/contract/problem-codes.ts'
import { PROBLEMS } from '../../src/shared/problems.ts'
import { STORES } from '../support/datastores/stores.ts'
import { depth } from '../support/run/depth.ts'
import { mutationsOf, unlikelyOf } from './mutations.ts'
import { scenarios } from './scenarios/all.ts'
import { untyped, type ValidCall } from './scenario.ts'
import { exchange, signed } from './wire.ts'
import { startWorld, type RunningWorld, type World } from './world.ts'

/** Requests for each operation; the seed is fixed unless the tests go deep. */
const RUNS = depth({ ci: 10, deep: 200 })
const seeded = depth<{ readonly seed?: number }>({ ci: { seed: 20_260_301 }, deep: {} })

describe.each(STORES)('the API on the $name datastore under wrong requests of a privileged caller', (store) => {
  describe.skipIf(store.missing)('', () => {
    let running: RunningWorld | undefined
    beforeAll(async () => {
      running = await startWorld(store)
    })
    afterAll(() => running?.stop())

    const operations = Object.values(contract).flatMap(({ operations: all }) => Object.entries<Operation>(all))
    it.each(operations)('%s refuses them with a declared problem, and changes no row', async (id, operation) => {
      if (running === undefined) throw new Error('the server did not start')
      const { world } = running
      const call = await arrange(id, world)
      const declared = new Set<string>([...problemCodesOf(operation), 'invalid_path'])
      const before = await world.stored()

      const refuses = fc.asyncProperty(mutationsOf(operation, call), async ({ wire }) => {
        const answer = await exchange(world.url, signed(wire, call.as, 'mutated'))
        const code = String(answer.json?.['code'])
        expect(declared, answer.text).toContain(code)
        expect(Object.entries(PROBLEMS).find(([name]) => name === code)?.[1].status).toBe(answer.status)
        expect(answer.status, answer.text).toBeLessThan(500)
        expect(answer.status, 'rate limits are raised here').not.toBe(429)
        expect(answer.json?.['correlation_id']).toBe('mutated')
      })
      await fc.assert(refuses, { numRuns: RUNS, ...seeded })

      expect(await world.stored()).toEqual(before)
    })

    const varied = operations.filter(([, { body, query }]) => body !== undefined || query !== undefined)
    it.each(varied)('%s answers well-formed ones with unlikely values, and does not fail', async (id, operation) => {
      if (running === undefined) throw new Error('the server did not start')
      const { world } = running
      const call = await arrange(id, world)
      for (const wire of unlikelyOf(operation, call)) {
        const answer = await exchange(world.url, signed(wire, call.as, 'unlikely'))
        expect(answer.status, `${wire.path} ${String(wire.body)}: ${answer.text}`).toBeLessThan(500)
      }
    })
  })
})

async function arrange(id: string, world: World): Promise<ValidCall> {
  const call = await scenarios[id]?.(world)
  if (call === undefined) throw new Error(`${id} has no scenario`)
  return untyped(call)
}
