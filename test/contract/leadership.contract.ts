import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { startLeadership, type LeadershipReports } from '../../src/server/jobs/leadership.ts'
import type { Db } from '../../src/server/ports/datastore.ts'
import type { LeaderSeat, SeatPlace } from '../../src/server/ports/leader-seat.ts'
import { LeadershipLost } from '../../src/server/ports/leadership-lost.ts'
import type { LeaderJob, Leading } from '../../src/server/ports/leadership.ts'
import { emptyTables } from '../support/datastores/empty-tables.ts'
import { type TestStore, useDatastore } from '../support/datastores/stores.ts'
import { gate } from '../support/run/gate.ts'
import { leaderParts, type LeaderParts } from '../support/datastores/leading.ts'

const NOW = Date.parse('2026-03-01T08:00:00.000Z')

/** What terms and the jobs of a leader do, on either store. */
export function leadershipContract(store: TestStore): void {
  describe.skipIf(store.missing)(`leadership on the ${store.name} store`, () => {
    const inUse = useDatastore(store)
    let parts: LeaderParts

    beforeEach(async () => {
      await emptyTables(inUse.current())
      parts = await leaderParts(inUse.current(), NOW)
      return () => parts.feed.stop()
    })

    const write = (tx: Db, name: string) => tx.insertInto('outbox_consumers').values({ name, seq: '0' }).execute()
    const written = async () =>
      (await inUse.current().pool('interactive').selectFrom('outbox_consumers').select('name').execute()).map(
        ({ name }) => name,
      )

    test('a term ends when the next one begins, and late transactions write nothing', async () => {
      const [first, second] = [await parts.lead(), await parts.lead()]
      await second.transaction((tx) => write(tx, 'second'))
      const late = first.transaction((tx) => write(tx, 'first'))
      await expect(late).rejects.toThrow(LeadershipLost)
      await expect(late).rejects.toThrow('term 1 has ended: the present one is 2')
      expect(await written()).toEqual(['second'])
    })

    test('a change in the unit of work of an ended term does not start', async () => {
      const [first] = [await parts.lead(), await parts.lead()]
      const work = vi.fn(async () => undefined)
      const options = { pool: 'interactive', correlationId: 'late' } as const
      await expect(first.unitOfWork.run(options, work)).rejects.toThrow(LeadershipLost)
      expect(work).not.toHaveBeenCalled()
    })

    test('a term whose signal is aborted writes nothing, even if no other process leads', async () => {
      const ending = new AbortController()
      const leading = await parts.lead(ending.signal)
      ending.abort()
      await expect(leading.transaction((tx) => write(tx, 'late'))).rejects.toThrow(LeadershipLost)
      expect(await written()).toEqual([])
    })

    test('the next term begins after a transaction of the last one has ended', async () => {
      const [begun, finish] = [gate(), gate()]
      const order: string[] = []
      const first = await parts.lead()
      const running = first.transaction(async (tx) => {
        await write(tx, 'first')
        begun.open()
        await finish.passed
        order.push('last transaction of the first term')
      })
      await begun.passed
      const next = parts.lead().then(() => order.push('second term'))
      finish.open()
      await Promise.all([running, next])
      expect(order).toEqual(['last transaction of the first term', 'second term'])
      expect(await written()).toEqual(['first'])
    })

    test.skipIf(store.name === 'embedded')(
      'a leader that stopped within a transaction keeps the next term waiting for two seconds, and writes nothing',
      async () => {
        const [begun, awake] = [gate(), gate()]
        const first = await parts.lead()
        const stopped = first.transaction(async (tx) => {
          await write(tx, 'before the stop')
          begun.open()
          await awake.passed
          await write(tx, 'after it')
        })
        await begun.passed
        const since = performance.now()
        const second = await parts.lead()
        expect(performance.now() - since).toBeLessThan(5_000)
        awake.open()
        await expect(stopped).rejects.toThrow('datastore: unavailable')
        await second.transaction((tx) => write(tx, 'second'))
        expect(await written()).toEqual(['second'])
      },
    )

    // What is idle for too long loses its session; the embedded engine has one, for all.
    test('a transaction of the leader may be idle for two seconds, on the embedded store without limit', async () => {
      const leading = await parts.lead()
      const { rows } = await leading.transaction((tx) =>
        sql<{ limit: string }>`select current_setting('idle_in_transaction_session_timeout') as limit`.execute(tx),
      )
      expect(rows).toEqual([{ limit: store.name === 'embedded' ? '0' : '2s' }])
    })

    describe.skipIf(store.name === 'embedded')('the seat', () => {
      const seats: LeaderSeat[] = []
      const open = async () => {
        const seat = await inUse.current().place.openSeat(() => undefined)
        seats.push(seat)
        return seat
      }
      const endSessions = () =>
        sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'ctl leader'`.execute(
          inUse.current().pool('interactive'),
        )
      afterEach(() => Promise.all(seats.splice(0).map((seat) => seat.leave())))

      test('is held by one process, and by the next one after the first left', async () => {
        const [first, second] = [await open(), await open()]
        expect([await first.hold(), await second.hold(), await first.hold()]).toEqual([true, false, true])
        await first.leave()
        await vi.waitFor(async () => expect(await second.hold()).toBe(true))
      })

      test('is lost with its connection, and using it fails', async () => {
        const seat = await open()
        await seat.hold()
        await endSessions()
        await vi.waitFor(() => expect(seat.gone.aborted).toBe(true))
        await expect(seat.hold()).rejects.toMatchObject({ failure: 'unavailable' })
      })

      test('of a process that is silent for five seconds goes to another one', async () => {
        const [silent, waiting] = [await open(), await open()]
        await silent.hold()
        const since = performance.now()
        await vi.waitFor(async () => expect(await waiting.hold()).toBe(true), { timeout: 10_000, interval: 200 })
        expect(performance.now() - since).toBeLessThan(7_000)
        expect(silent.gone.aborted).toBe(true)
      })
    })

    describe('a process that competes for leadership', () => {
      const reports = {
        onLeading: vi.fn<() => void>(),
        onLost: vi.fn<(cause: unknown) => void>(),
        onJobFailure: vi.fn<(job: string, error: unknown) => void>(),
        onFailure: vi.fn<(error: unknown) => void>(),
      } satisfies LeadershipReports
      /** Both stores' adapters bring the place with the datastore. */
      const place = (): SeatPlace => inUse.current().place
      const start = (run: LeaderJob['run'], everyMs = 3_600_000, others: readonly LeaderJob[] = []) =>
        startLeadership({
          openSeat: place().openSeat,
          takeTerm: parts.takeTerm,
          outboxJob: 'job',
          jobs: [{ name: 'job', everyMs, run }, ...others],
          reports,
        })
      beforeEach(() => {
        for (const report of Object.values(reports)) report.mockReset()
      })

      test('leaves a job alone until its first pass is due, and ends meanwhile when it is stopped', async () => {
        const early = vi.fn<LeaderJob['run']>(async () => false)
        const late = { name: 'late', everyMs: 3_600_000, firstAfterMs: 3_600_000, run: early }
        const due = gate()
        const soon = { ...late, name: 'soon', firstAfterMs: 50, run: async () => (due.open(), false) }
        const leadership = start(async () => false, 3_600_000, [late, soon])
        await due.passed
        await leadership.stop()
        expect(early).not.toHaveBeenCalled()
      })

      test('runs its jobs, one pass at a time, without a pause while there is more, until it is stopped', async () => {
        let [running, most, passes] = [0, 0, 0]
        const done = gate()
        const leadership = start(async (leading) => {
          running += 1
          most = Math.max(most, running)
          await leading.transaction(async (tx) => write(tx, `pass ${(passes += 1)}`))
          running -= 1
          if (passes === 3) done.open()
          return passes < 3
        })
        await done.passed
        expect(leadership.isLeading()).toBe(true)
        await leadership.stop()
        expect(leadership.isLeading()).toBe(false)
        expect(most).toBe(1)
        expect((await written()).toSorted()).toEqual(['pass 1', 'pass 2', 'pass 3'])
        expect(reports.onLost).not.toHaveBeenCalled()
      })

      test('is woken by a hint, and a hint during a pass brings another one', async () => {
        let passes = 0
        const leadership = start(async () => {
          passes += 1
          if (passes === 1) place().giveHint()
          return false
        })
        await vi.waitFor(() => expect(passes).toBe(2))
        place().giveHint()
        await vi.waitFor(() => expect(passes).toBe(3))
        await leadership.stop()
      })

      test('continues after a failed pass and reports the job', async () => {
        let passes = 0
        const leadership = start(async () => {
          passes += 1
          if (passes === 1) throw new Error('no luck')
          return false
        }, 1)
        await vi.waitFor(() => expect(passes).toBeGreaterThan(1))
        await leadership.stop()
        expect(reports.onJobFailure.mock.calls).toEqual([['job', new Error('no luck')]])
      })

      test('competes again when a job finds that another term has begun', async () => {
        const terms = new Set<Leading>()
        const leadership = start(async (leading) => {
          terms.add(leading)
          if (terms.size === 1) await parts.lead()
          await leading.transaction((tx) => write(tx, `reign ${terms.size}`))
          return false
        })
        await vi.waitFor(async () => expect(await written()).toEqual(['reign 2']), { timeout: 10_000 })
        await leadership.stop()
        expect(reports.onLost.mock.calls).toEqual([[expect.any(LeadershipLost)]])
        expect(reports.onJobFailure).not.toHaveBeenCalled()
      })

      test('waits for the running pass when it is stopped, and aborts its signal', async () => {
        const [begun, finish] = [gate(), gate()]
        let isAborted = false
        const leadership = start(async ({ signal }) => {
          begun.open()
          await finish.passed
          isAborted = signal.aborted
          return true
        })
        await begun.passed
        let isStopped = false
        const stopped = leadership.stop().then(() => (isStopped = true))
        await Promise.resolve()
        expect(isStopped).toBe(false)
        finish.open()
        await stopped
        expect(isAborted).toBe(true)
      })
    })
  })
}
