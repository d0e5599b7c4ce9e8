import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { tupleId } from '../../../src/server/adapters/postgres/tuple-id.ts'
import type { Tuple } from '../../../src/server/ports/unit-of-work.ts'
import { Problem } from '../../../src/shared/problems.ts'
import { isEngineMissing, openReplica, type Replica } from '../../support/authz/engines.ts'
import { emptyTables } from '../../support/datastores/empty-tables.ts'
import { STORES, useDatastore } from '../../support/datastores/stores.ts'
import { bothSides } from '../../support/authz/spicedb-equality.ts'
import { startSpicedb, type SpicedbServer } from '../../support/authz/spicedb-server.ts'

const NOW_MS = Date.parse('2026-03-02T09:00:00Z')
const NOWHERE = { domainId: null, projectId: null }
const tupleFor = (who: string): Tuple => ({ subject: `user:${who}`, relation: 'admin', resource: 'platform:main' })

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof Problem ? error.code : error),
  )

describe.each(STORES)('a SpiceDB that goes away and comes back, over $name', (store) => {
  describe.skipIf(store.missing || isEngineMissing('spicedb'))('', () => {
    const inUse = useDatastore(store)
    let server: SpicedbServer
    let replica: Replica
    beforeAll(async () => {
      server = await startSpicedb()
    })
    afterAll(() => server.close())
    beforeEach(async () => {
      await emptyTables(inUse.current())
      await server.reset()
      replica = await openReplica({ datastore: inUse.current(), nowMs: NOW_MS, server })
    })
    afterEach(() => replica.stop())

    const grant = (who: string): Promise<boolean> =>
      replica.change(async ({ tuples }) => (await tuples.create(tupleFor(who), NOWHERE)) !== undefined)
    const revoke = (who: string): Promise<unknown> =>
      replica.change(({ tuples }) => tuples.delete(tupleId(tupleFor(who))))

    const decide = (who: string) =>
      replica.authorizer.check({
        subject: `user:${who}`,
        relation: 'manage',
        resource: 'platform:main',
        facts: { nowMs: NOW_MS },
        wantPath: false,
      })
    const isAllowed = async (who: string): Promise<boolean> => (await decide(who)).allowed

    /** Waits until it answers again, as callers that retry do. */
    async function untilBack(): Promise<void> {
      await expect.poll(async () => codeOf(Promise.resolve(decide('nobody'))), { timeout: 15_000 }).toBe('done')
    }

    async function finish(): Promise<void> {
      for (let pass = 0; pass < 2; pass++) {
        await replica.spicedb?.job.run({
          unitOfWork: replica.unitOfWork,
          transaction: () => Promise.reject(new Error('the job opens no transaction of a leader')),
          signal: new AbortController().signal,
        })
      }
    }

    test('answers nothing and changes nothing meanwhile, and goes on by itself', async () => {
      await grant('ann')
      await server.stop()
      expect(await codeOf(Promise.resolve(decide('ann')))).toBe('authz_unavailable')
      expect(await codeOf(grant('bob'))).toBe('authz_unavailable')
      expect(await codeOf(revoke('ann'))).toBe('authz_unavailable')
      const { registry } = await bothSidesOfRegistry()
      expect(registry).toEqual(['platform:main#admin@user:ann#[]'])
      await server.start()
      await untilBack()
      expect(await isAllowed('ann')).toBe(true)
      expect(await isAllowed('bob')).toBe(false)
      expect(await grant('bob')).toBe(true)
      expect(await isAllowed('bob')).toBe(true)
    })

    async function bothSidesOfRegistry(): Promise<{ registry: readonly string[] }> {
      const rows = await inUse.current().pool('interactive').selectFrom('relation_tuples').selectAll().execute()
      return {
        registry: rows.map(
          (row) => `platform:main#admin@user:${row.subject_id}#[]${row.state === 'live' ? '' : ` ${row.state}`}`,
        ),
      }
    }

    test('leaves what it was not told of for later: not live, not acknowledged, and finished by the job', async () => {
      await grant('ann')
      await server.hang()
      expect(await codeOf(grant('bob'))).toBe('authz_unavailable')
      expect((await bothSidesOfRegistry()).registry.toSorted()).toEqual([
        'platform:main#admin@user:ann#[]',
        'platform:main#admin@user:bob#[] pending',
      ])
      await server.answer()
      await untilBack()
      await finish()
      expect(await isAllowed('bob')).toBe(true)
      const { registry, spicedb } = await bothSides(inUse.current(), server)
      expect(registry).toEqual(spicedb)
    })

    test('frozen in a lookup, ends it long before the deadline of a large one', { timeout: 180_000 }, async () => {
      await grant('ann')
      const question = {
        subject: 'user:ann',
        relation: 'manage',
        resourceType: 'platform',
        allowedFacts: new Set<string>(),
      }
      const lookUp = async () => replica.lookups.resources({ ...question, facts: { nowMs: NOW_MS } })
      expect(await lookUp()).toEqual(['platform:main'])
      process.kill(server.pid, 'SIGSTOP')
      const fromMs = performance.now()
      try {
        expect(await codeOf(lookUp())).toBe('authz_unavailable')
        expect(performance.now() - fromMs).toBeLessThan(6_000)
      } finally {
        process.kill(server.pid, 'SIGCONT')
      }
      await untilBack()
      expect(await lookUp()).toEqual(['platform:main'])
    })

    test('that heard a revocation whose answer was lost keeps it', async () => {
      await grant('ann')
      const { held } = await server.hold({ method: 'WriteRelationships', when: 'after' })
      const revoking = codeOf(revoke('ann'))
      await held
      expect(await revoking).toBe('authz_unavailable')
      await untilBack()
      expect(await revoke('ann')).toBe(undefined)
      expect(await isAllowed('ann')).toBe(false)
      expect(await bothSides(inUse.current(), server)).toEqual({ registry: [], spicedb: [] })
    })

    test('settles a grant that was left behind when it is asked for again', async () => {
      await server.hang()
      expect(await codeOf(grant('bob'))).toBe('authz_unavailable')
      await server.answer()
      await untilBack()
      expect(await grant('bob')).toBe(false)
      expect(await isAllowed('bob')).toBe(true)
    })

    test('loses nothing that was acknowledged, stopped and started under load', { timeout: 120_000 }, async () => {
      const granted = new Set<string>()
      const revoked = new Set<string>()
      const over = new AbortController()
      async function work(worker: number): Promise<void> {
        for (let round = 0; !over.signal.aborted; round++) {
          const who = `w${worker}-${round}`
          if ((await codeOf(grant(who))) === 'done') granted.add(who)
          // What is refused before it asked anything would otherwise be tried again without a turn for timers.
          else await sleep(5)
          if (round % 2 === 1 || !granted.has(who)) continue
          granted.delete(who)
          if ((await codeOf(revoke(who))) === 'done') revoked.add(who)
        }
      }
      const workers = [1, 2, 3, 4].map((worker) => work(worker))
      try {
        for (let outage = 0; outage < 2; outage++) {
          const before = granted.size
          await expect.poll(() => granted.size, { timeout: 30_000 }).toBeGreaterThan(before + 5)
          await server.stop()
          await expect
            .poll(() => codeOf(Promise.resolve(decide('nobody'))), { timeout: 15_000 })
            .toBe('authz_unavailable')
          await server.start()
          await untilBack()
        }
      } finally {
        over.abort()
        await Promise.all(workers)
      }
      await finish()
      const { registry, spicedb } = await bothSides(inUse.current(), server)
      expect(registry).toEqual(spicedb)
      const there = new Set(spicedb)
      const bindingFor = (who: string): string => `platform:main#admin@user:${who}#[]`
      expect([...granted].filter((who) => !there.has(bindingFor(who)))).toEqual([])
      expect([...revoked].filter((who) => there.has(bindingFor(who)))).toEqual([])
      expect(revoked.size).toBeGreaterThan(0)
    })
  })
})
