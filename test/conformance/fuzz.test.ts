import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { contract } from '../../src/shared/contract/index.ts'
import type { Operation } from '../../src/shared/contract/operation.ts'
import { problemCodesOf } from '../../src/shared/contract/problem-codes.ts'
import { PROBLEMS } from '../../src/shared/problems.ts'
import { DATASTORE_KINDS, isDatastoreMissing } from '../support/datastores.ts'
import { depth } from '../support/depth.ts'
import type { Running } from './loop.ts'
import { mutationsOf, unlikelyOf } from './mutations.ts'
import { scenarios } from './scenarios/all.ts'
import type { ValidCall } from './scenario.ts'
import { exchange, signed } from './wire.ts'
import { startWorld, type World } from './world.ts'

/** Requests for each operation; the seed is fixed unless the tests go deep. */
const RUNS = depth({ ci: 20, deep: 200 })
const seeded = depth<{ readonly seed?: number }>({ ci: { seed: 20_260_301 }, deep: {} })

describe.each(DATASTORE_KINDS)('the API on the %s datastore under wrong requests of a privileged caller', (kind) => {
  describe.skipIf(isDatastoreMissing(kind))('', () => {
    let running: Running<World> | undefined
    let rows: Rows | undefined
    beforeAll(async () => {
      running = await startWorld(kind)
      rows = await openRows(running.databaseUrl)
    })
    afterAll(async () => {
      await rows?.close()
      await running?.stop()
    })

    const operations = Object.values(contract).flatMap(({ operations: all }) => Object.entries<Operation>(all))
    it.each(operations)('%s refuses them with a declared problem, and changes no row', async (id, operation) => {
      if (running === undefined) throw new Error('the server did not start')
      const { world } = running
      const call = await arrange(id, world)
      const declared = new Set<string>([...problemCodesOf(operation), 'invalid_path', 'uri_too_long'])
      const before = await rows?.digest()

      const refuses = fc.asyncProperty(mutationsOf(operation, call), async ({ wire }) => {
        const answer = await exchange(world.url, signed(wire, call.as, 'mutated'))
        const code = String(answer.json?.['code'])
        expect(declared, answer.text).toContain(code)
        expect(Object.entries(PROBLEMS).find(([name]) => name === code)?.[1].status).toBe(answer.status)
        expect(answer.status, answer.text).toBeLessThan(500)
        expect(answer.json?.['correlation_id']).toBe('mutated')
      })
      await fc.assert(refuses, { numRuns: RUNS, ...seeded })

      expect(await rows?.digest()).toEqual(before)
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
  return { ...call, input: { ...call.input } }
}

/** What lies in the tables. */
interface Rows {
  /** A digest of every row by table; audit rows come with requests and are sealed later, and when a token was last used changes too. */
  digest(): Promise<Readonly<Record<string, string>>>
  close(): Promise<void>
}

/** Looks at the tables by a connection of its own; the embedded datastore admits none. */
async function openRows(url: string | undefined): Promise<Rows | undefined> {
  if (url === undefined) return undefined
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const named = await client.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' and tablename !~ '^audit' order by 1`,
  )
  const tables = named.rows.map(({ name }) => name)
  const query = (name: string): string =>
    `select md5(coalesce(string_agg(row, ',' order by row), '')) as digest
     from (select (to_jsonb(t) - 'last_used_at')::text as row from ${name} t) rows`
  return {
    async digest() {
      const digests: Record<string, string> = {}
      for (const name of tables) {
        const found = await client.query<{ digest: string }>(query(name))
        digests[name] = found.rows[0]?.digest ?? ''
      }
      return digests
    },
    close: () => client.end(),
  }
}
