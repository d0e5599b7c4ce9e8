import { sql } from 'kysely'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { createTupleConsumer } from '../../src/server/authz-sync/tuple-consumer.ts'
import { holdPrincipal } from '../../src/server/sql/hold-principal.ts'
import { tupleConsumer } from '../../src/server/slices/identities/event-tuples.ts'
import { createConsumption } from '../../src/server/outbox/consumption.ts'
import { createNumbering } from '../../src/server/outbox/numbering.ts'
import { createPruning } from '../../src/server/outbox/pruning.ts'
import { readLag } from '../../src/server/outbox/store.ts'
import type { Datastore } from '../../src/server/ports/datastore.ts'
import type { LeaderJob, Leading } from '../../src/server/ports/leadership.ts'
import type { OutboxEvent } from '../../src/server/ports/outbox-events.ts'
import type { NumberedEvent, OutboxConsumer } from '../../src/server/ports/outbox.ts'
import { Crash, crashingDatastore } from '../support/datastores/crashing-datastore.ts'
import { emptyTables } from '../support/datastores/empty-tables.ts'
import { STORES, useDatastore } from '../support/datastores/stores.ts'
import { gate } from '../support/run/gate.ts'
import { leaderParts, type LeaderParts } from '../support/datastores/leading.ts'

const NOW = Date.parse('2026-03-10T08:00:00.000Z')
const DAY_MS = 24 * 60 * 60 * 1000
const HOME = '018f0000-0000-7000-8000-000000000001'
const ROBOT = '018f0000-0000-7000-8000-000000000002'
const PROVISIONED = {
  event: 'ServiceIdentityProvisioned' as const,
  domainId: HOME,
  aggregate: `serviceaccount:${ROBOT}`,
  payload: { service_identity_id: ROBOT, display_name: 'Robot' },
}

describe.each(STORES)('the outbox on the $name store', (store) => {
  describe.skipIf(store.missing)('with a leader', () => {
    const inUse = useDatastore(store)
    let parts: LeaderParts
    let leading: Leading
    const onPoison = vi.fn<(consumer: string, event: NumberedEvent, error: unknown) => void>()

    beforeEach(async () => {
      onPoison.mockReset()
      await sql`create table if not exists seen (seq bigint not null)`.execute(db())
      await emptyTables(inUse.current())
      parts = await leaderParts(inUse.current(), NOW)
      leading = await parts.lead()
      return () => parts.feed.stop()
    })

    const db = () => inUse.current().pool('interactive')
    const emit = (...events: readonly string[]) =>
      parts.unitOfWork.run({ pool: 'interactive', correlationId: 'x' }, async (change) => {
        // Short names for the order of rows: nothing here asks what they are.
        for (const event of events)
          change.emit({ event, domainId: null, aggregate: 'thing:1', payload: {} } as unknown as OutboxEvent)
      })
    const numbering = (datastore: Datastore = inUse.current()) => createNumbering({ datastore, onNumbered: () => {} })
    const numbered = async () =>
      (await db().selectFrom('outbox').select(['seq', 'event']).orderBy('seq').execute()).map(
        ({ seq, event }) => `${seq} ${event}`,
      )
    const consumption = (consumer: OutboxConsumer, datastore: Datastore = inUse.current()) =>
      createConsumption({ datastore, ids: parts.ids, consumer, onPoison })
    /** Writes down what it takes, in the transaction that moves its cursor. */
    const recorder = (refused: () => string | undefined = () => undefined): OutboxConsumer => ({
      name: 'recorder',
      async handle(change, events) {
        for (const { seq, event } of events) {
          if (event === refused()) throw new Error(`cannot take ${event}`)
          await sql`insert into seen (seq) values (${seq.toString()}::bigint)`.execute(change.db)
        }
      },
    })
    const seen = async () =>
      (await sql<{ seq: string }>`select seq from seen order by ctid`.execute(db())).rows.map(({ seq }) => Number(seq))
    const untilQuiet = async (job: LeaderJob, by: Leading = leading) => {
      while (await job.run(by));
    }

    describe('numbering', () => {
      test('gives contiguous numbers in the order of the rows, after the last one', async () => {
        await emit('a', 'b')
        await untilQuiet(numbering())
        await emit('c')
        await untilQuiet(numbering())
        await untilQuiet(numbering())
        expect(await numbered()).toEqual(['1 a', '2 b', '3 c'])
      })

      test('calls back after it numbered rows', async () => {
        const onNumbered = vi.fn<() => void>()
        const job = createNumbering({ datastore: inUse.current(), onNumbered })
        await untilQuiet(job)
        expect(onNumbered).not.toHaveBeenCalled()
        await emit('a')
        await untilQuiet(job)
        expect(onNumbered).toHaveBeenCalledTimes(1)
      })

      test('numbers more rows than fit into one pass', async () => {
        await sql`insert into outbox (event, aggregate, payload, correlation_id, occurred_at)
          select 'e' || n, 'thing:1', '{}', 'x', now() from generate_series(1, 2500) as n`.execute(db())
        await untilQuiet(numbering())
        const { rows } = await sql`select count(*)::int as count, min(seq)::int as first, max(seq)::int as last,
          bool_and(event = 'e' || seq) as in_order from outbox`.execute(db())
        expect(rows).toEqual([{ count: 2500, first: 1, last: 2500, in_order: true }])
      })

      test.skipIf(store.name === 'embedded')(
        'passes by a row whose transaction is still open, and numbers it when it is committed',
        async () => {
          const [begun, finish] = [gate(), gate()]
          const slow = inUse.current().transaction('worker', async (tx) => {
            await sql`insert into outbox (event, aggregate, payload, correlation_id, occurred_at)
              values ('slow', 'thing:1', '{}', 'x', now())`.execute(tx)
            begun.open()
            await finish.passed
          })
          await begun.passed
          await emit('quick')
          await untilQuiet(numbering())
          finish.open()
          await slow
          await untilQuiet(numbering())
          expect(await numbered()).toEqual(['1 quick', '2 slow'])
        },
      )

      test('of an ended term numbers nothing', async () => {
        await emit('a')
        await parts.lead()
        await expect(numbering().run(leading)).rejects.toThrow('term 1 has ended')
        expect(await numbered()).toEqual(['null a'])
      })
    })

    describe('a consumer', () => {
      test('gets every row in order, and its writes happen once', async () => {
        await emit('a', 'b', 'c')
        await untilQuiet(numbering())
        await untilQuiet(consumption(recorder()))
        await emit('d')
        await untilQuiet(numbering())
        await untilQuiet(consumption(recorder()))
        expect(await seen()).toEqual([1, 2, 3, 4])
        expect(await readLag(db())).toEqual({ unnumbered: 0, consumers: [{ name: 'recorder', rows: 0 }] })
      })

      test('that fails on a row has processed those before it, reports the row, and skips none', async () => {
        let poison: string | undefined = 'c'
        const job = consumption(recorder(() => poison))
        await emit('a', 'b', 'c', 'd')
        await untilQuiet(numbering())
        await expect(untilQuiet(job)).rejects.toThrow('cannot take c')
        expect(onPoison.mock.calls.map(([consumer, { seq, event }]) => [consumer, seq, event])).toEqual([
          ['recorder', 3n, 'c'],
        ])
        await expect(untilQuiet(job)).rejects.toThrow('cannot take c')
        expect(await seen()).toEqual([1, 2])
        expect(await readLag(db())).toEqual({ unnumbered: 0, consumers: [{ name: 'recorder', rows: 2 }] })
        poison = undefined
        await untilQuiet(job)
        expect(await seen()).toEqual([1, 2, 3, 4])
      })

      test('stops before a missing number', async () => {
        await emit('a', 'b', 'c')
        await untilQuiet(numbering())
        await untilQuiet(consumption({ name: 'other', handle: async () => undefined }))
        await sql`delete from outbox where seq = 2`.execute(db())
        await expect(untilQuiet(consumption(recorder()))).rejects.toThrow('outbox row 2 is missing')
        expect(await seen()).toEqual([1])
      })

      test('that is new starts with the oldest stored row', async () => {
        await emit('a', 'b', 'c')
        await untilQuiet(numbering())
        await sql`delete from outbox where seq = 1`.execute(db())
        await untilQuiet(consumption(recorder()))
        expect(await seen()).toEqual([2, 3])
      })
    })

    describe('pruning', () => {
      const consumers = [recorder(), { name: 'other', handle: async () => undefined }]
      const pruning = () => createPruning({ clock: parts.clock, consumers })

      test('deletes rows that every consumer has processed and that are seven days old', async () => {
        await emit('a', 'b')
        parts.clock.nowMs += 1
        await emit('c')
        await untilQuiet(numbering())
        for (const consumer of consumers) await untilQuiet(consumption(consumer))
        parts.clock.nowMs = NOW + 7 * DAY_MS
        await untilQuiet(pruning())
        expect(await numbered()).toEqual(['1 a', '2 b', '3 c'])
        parts.clock.nowMs = NOW + 7 * DAY_MS + 1
        await untilQuiet(pruning())
        expect(await numbered()).toEqual(['3 c'])
      })

      test('keeps rows that one consumer has not processed, or while one is not registered', async () => {
        await emit('a', 'b')
        await untilQuiet(numbering())
        await untilQuiet(consumption(recorder()))
        parts.clock.nowMs = NOW + 30 * DAY_MS
        await untilQuiet(pruning())
        expect(await numbered()).toEqual(['1 a', '2 b'])
        await untilQuiet(consumption({ name: 'other', handle: async () => undefined }))
        await emit('c')
        await untilQuiet(pruning())
        expect(await numbered()).toEqual(['null c'])
      })
    })

    describe('the parent edge of a service identity', () => {
      const edges = async () =>
        (
          await db()
            .selectFrom('relation_tuples')
            .select(['subject_type', 'subject_id', 'relation', 'resource_type', 'resource_id', 'structural'])
            .execute()
        ).map((row) => `${row.subject_type}:${row.subject_id} ${row.relation} ${row.resource_type}:${row.resource_id}`)
      const EDGE = `domain:${HOME} domain serviceaccount:${ROBOT}`
      const arrange = async () => {
        await sql`insert into domains values (${HOME}, 'home', 'Home', '100.64.0.0/10', 300, '[]', null, '[]', now(), now())`.execute(
          db(),
        )
        await sql`insert into principals (id, domain_id, kind, display_name, subject_sealed, subject_pseudonym, created_at, updated_at)
          values (${ROBOT}, ${HOME}, 'service-identity', 'Robot', '\\x00', 'p', now(), now())`.execute(db())
      }
      const emitProvisioned = () =>
        parts.unitOfWork.run({ pool: 'interactive', correlationId: 'x' }, async ({ emit: append }) =>
          append(PROVISIONED),
        )

      test('is written again if it is missing, and processed like any other change', async () => {
        await arrange()
        await emitProvisioned()
        await untilQuiet(numbering())
        await untilQuiet(consumption(createTupleConsumer(tupleConsumer)))
        expect(await edges()).toEqual([EDGE])
        expect(parts.feed.revision()).toBe(1n)
      })

      test('stays unchanged if it exists, without a new revision', async () => {
        await arrange()
        await emitProvisioned()
        await emitProvisioned()
        await untilQuiet(numbering())
        await untilQuiet(consumption(createTupleConsumer(tupleConsumer)))
        expect(await edges()).toEqual([EDGE])
        expect(parts.feed.revision()).toBe(1n)
      })

      test('of a deleted identity is not written', async () => {
        await emitProvisioned()
        await untilQuiet(numbering())
        await untilQuiet(consumption(createTupleConsumer(tupleConsumer)))
        expect(await edges()).toEqual([])
      })

      test('and a role beside it are written by one entry, once, and only while the object is there', async () => {
        const viewer = { subject: `serviceaccount:${ROBOT}`, relation: 'viewer', resource: `domain:${HOME}` }
        const place = { domainId: HOME, projectId: null }
        const both = createTupleConsumer({
          name: 'edge-and-role',
          events: {
            ServiceIdentityProvisioned: {
              hold: (tx) => holdPrincipal(tx, ROBOT, HOME),
              tuplesOf: () => [
                {
                  tuple: { ...viewer, relation: 'domain', subject: `domain:${HOME}`, resource: viewer.subject },
                  place,
                  structural: true,
                },
                { tuple: viewer, place, structural: false },
              ],
            },
          },
        })
        await emitProvisioned()
        await untilQuiet(numbering())
        await untilQuiet(consumption(both))
        expect(await edges()).toEqual([])
        await arrange()
        await emitProvisioned()
        await emitProvisioned()
        await untilQuiet(numbering())
        await untilQuiet(consumption(both))
        expect((await edges()).toSorted()).toEqual([EDGE, `serviceaccount:${ROBOT} viewer domain:${HOME}`])
        expect(parts.feed.revision()).toBe(1n)
      })

      test('exists once, whichever step the process crashes after: nothing is skipped or numbered twice', async () => {
        /** One process: numbers, consumes and prunes until nothing is left to do, or until it ends. */
        const live = async (datastore: Datastore): Promise<void> => {
          const own = await leaderParts(datastore, NOW + 8 * DAY_MS, inUse.current())
          try {
            const term = await own.lead()
            const consumers = [createTupleConsumer(tupleConsumer), recorder()]
            await untilQuiet(numbering(datastore), term)
            for (const consumer of consumers) await untilQuiet(consumption(consumer, datastore), term)
            await untilQuiet(createPruning({ clock: own.clock, consumers }), term)
          } finally {
            own.feed.stop()
          }
        }
        let stepsLeft = 0
        for (let isCrashed = true; isCrashed; stepsLeft += 1) {
          await emptyTables(inUse.current())
          await arrange()
          await sql`insert into outbox (event, domain_id, aggregate, payload, correlation_id, occurred_at)
            select event, ${HOME}, ${PROVISIONED.aggregate}, '{}', 'x', ${new Date(NOW)}
            from unnest(array['a', 'ServiceIdentityProvisioned', 'b', 'ServiceIdentityProvisioned']) as event`.execute(
            db(),
          )
          const outcome = await live(crashingDatastore(inUse.current(), stepsLeft)).catch((error: unknown) => error)
          isCrashed = outcome instanceof Crash
          if (!isCrashed) expect(outcome).toBeUndefined()
          await live(inUse.current())
          const { seq: head } = await db().selectFrom('outbox_head').select('seq').executeTakeFirstOrThrow()
          expect({ stepsLeft, head, edges: await edges(), seen: await seen(), left: await numbered() }).toEqual({
            stepsLeft,
            head: '4',
            edges: [EDGE],
            seen: [1, 2, 3, 4],
            left: [],
          })
        }
        expect(stepsLeft).toBeGreaterThan(30)
      }, 240_000)
    })
  })
})
