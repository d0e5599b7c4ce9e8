import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as fc from 'fast-check'
import {
  addressesFor,
  restAddress,
  takeNumbers,
  type MeshDomain,
} from '../../../src/server/slices/nodes/address-store.ts'
import type { Datastore, Db } from '../../../src/server/ports/datastore.ts'
import { emptyTables } from '../../support/datastores/empty-tables.ts'
import { STORES, useDatastore } from '../../support/datastores/stores.ts'

const START_MS = Date.parse('2026-03-01T08:00:00.000Z')
const HOUR_MS = 3_600_000

async function addDomain(datastore: Datastore, meshCidr: string): Promise<MeshDomain> {
  const id = randomUUID()
  const at = new Date(START_MS)
  await datastore
    .pool('interactive')
    .insertInto('domains')
    .values({
      id,
      slug: id,
      display_name: 'A Domain',
      mesh_cidr: meshCidr,
      endpoint_ttl_seconds: 300,
      trusted_networks: '[]',
      business_hours: 'null',
      strong_acr: '[]',
      created_at: at,
      updated_at: at,
    })
    .execute()
  return { id, meshCidr }
}

async function allocateAddresses(tx: Db, domain: MeshDomain, { count, nowMs }: { count: number; nowMs: number }) {
  const asked = sql`(values (${domain.id}::uuid, ${count}::integer)) as asked (domain_id, uses)`
  const { rows } = await takeNumbers(asked, nowMs).execute(tx)
  const [taken] = rows
  if (taken === undefined) throw new Error('a pool gave no number')
  return addressesFor(tx, { domain, taken, count }, nowMs)
}

const allocateSome = (datastore: Datastore, domain: MeshDomain, asked: { count: number; nowMs: number }) =>
  datastore.transaction('interactive', (tx) => allocateAddresses(tx, domain, asked))

const allocate = async (datastore: Datastore, domain: MeshDomain, nowMs = START_MS) =>
  (await allocateSome(datastore, domain, { count: 1, nowMs }))[0]

const free = (datastore: Datastore, domain: MeshDomain, freed: { address: string; atMs: number }) =>
  datastore.transaction('interactive', (tx) => restAddress(tx, domain.id, freed))

const exhausted = expect.objectContaining({ code: 'mesh_addresses_exhausted' })

/** The rule as decisions 1 says it: every address of the block is looked at, lowest first. */
class NaivePool {
  readonly #hosts = Array.from({ length: 14 }, (_, n) => `100.64.0.${n + 1}`)
  readonly #used = new Set<string>()
  readonly #freedAtMs = new Map<string, number>()

  /** All of them or none. */
  allocate(count: number, nowMs: number): string[] | undefined {
    const isResting = (address: string) => nowMs - (this.#freedAtMs.get(address) ?? -Infinity) < 24 * HOUR_MS
    const given = this.#hosts.filter((host) => !this.#used.has(host) && !isResting(host)).slice(0, count)
    if (given.length < count) return undefined
    for (const address of given) this.#used.add(address)
    return given
  }

  free(index: number, nowMs: number): string | undefined {
    const address = [...this.#used][index % Math.max(1, this.#used.size)]
    if (address === undefined) return undefined
    this.#used.delete(address)
    this.#freedAtMs.set(address, nowMs)
    return address
  }
}

describe.each(STORES)('mesh addresses on $name', (store) => {
  describe.skipIf(store.missing)('', () => {
    const inUse = useDatastore(store)
    let datastore: Datastore
    beforeEach(() => {
      datastore = inUse.current()
    })
    afterEach(() => emptyTables(datastore))

    test('are given lowest first, without the network and the broadcast address, until none is left', async () => {
      const domain = await addDomain(datastore, '100.64.0.128/29')
      const given = []
      for (let n = 0; n < 6; n++) given.push(await allocate(datastore, domain))
      expect(given).toEqual([129, 130, 131, 132, 133, 134].map((last) => `100.64.0.${last}`))
      await expect(allocate(datastore, domain)).rejects.toEqual(exhausted)
    })

    test('of one Domain do not depend on another with the same block', async () => {
      const [one, other] = [await addDomain(datastore, '100.64.0.0/10'), await addDomain(datastore, '100.64.0.0/10')]
      expect(await allocate(datastore, one)).toBe('100.64.0.1')
      expect(await allocate(datastore, other)).toBe('100.64.0.1')
      expect(await allocate(datastore, one)).toBe('100.64.0.2')
    })

    test('rest for 24 hours to the millisecond when freed', async () => {
      const domain = await addDomain(datastore, '100.64.0.0/10')
      const address = (await allocate(datastore, domain)) ?? ''
      await allocate(datastore, domain)
      await free(datastore, domain, { address, atMs: START_MS })
      expect(await allocate(datastore, domain, START_MS + 24 * HOUR_MS - 1)).toBe('100.64.0.3')
      expect(await allocate(datastore, domain, START_MS + 24 * HOUR_MS)).toBe('100.64.0.1')
      expect(await allocate(datastore, domain, START_MS + 24 * HOUR_MS)).toBe('100.64.0.4')
    })

    test('that have rested are compared as numbers, not as text', async () => {
      const domain = await addDomain(datastore, '100.64.0.0/10')
      const given = []
      for (let n = 0; n < 10; n++) given.push(await allocate(datastore, domain))
      for (const address of [given[9] ?? '', given[8] ?? '']) {
        await free(datastore, domain, { address, atMs: START_MS })
      }
      expect(await allocate(datastore, domain, START_MS + 24 * HOUR_MS)).toBe('100.64.0.9')
    })

    test('taken by a transaction that fails are free again', async () => {
      const domain = await addDomain(datastore, '100.64.0.0/10')
      const failing = datastore.transaction('interactive', async (tx) => {
        await allocateAddresses(tx, domain, { count: 1, nowMs: START_MS })
        throw new Error('no')
      })
      await expect(failing).rejects.toThrow('no')
      expect(await allocate(datastore, domain)).toBe('100.64.0.1')
    })

    test('are given once each to callers at the same time', async () => {
      const domain = await addDomain(datastore, '100.64.0.0/10')
      const given = await Promise.all(Array.from({ length: 40 }, () => allocate(datastore, domain)))
      expect(new Set(given).size).toBe(40)
      expect(given).toContain('100.64.0.40')
    })

    test('follow the naive rule whatever is taken and freed, and whenever', { timeout: 120_000 }, async () => {
      const step = fc.oneof(
        { weight: 5, arbitrary: fc.record({ take: fc.integer({ min: 1, max: 4 }) }) },
        { weight: 3, arbitrary: fc.record({ free: fc.nat(13) }) },
        { weight: 2, arbitrary: fc.record({ hours: fc.integer({ min: 1, max: 30 }) }) },
      )
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
          const domain = await addDomain(datastore, '100.64.0.0/28')
          const naive = new NaivePool()
          let nowMs = START_MS
          for (const each of steps) {
            if ('hours' in each) nowMs += each.hours * HOUR_MS
            else if ('take' in each) {
              const expected = naive.allocate(each.take, nowMs)
              const given = allocateSome(datastore, domain, { count: each.take, nowMs })
              if (expected === undefined) await expect(given).rejects.toEqual(exhausted)
              else expect(await given).toEqual(expected)
            } else {
              const address = naive.free(each.free, nowMs)
              if (address !== undefined) await free(datastore, domain, { address, atMs: nowMs })
            }
          }
        }),
        { numRuns: 40 },
      )
    })
  })
})
