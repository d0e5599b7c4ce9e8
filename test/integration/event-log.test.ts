import { sql, type KyselyPlugin } from 'kysely'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { createEventLog } from '../../src/server/adapters/event-log/event-log.ts'
import { createEventRetention } from '../../src/server/adapters/event-log/retention.ts'
import { append } from '../../src/server/adapters/event-log/store.ts'
import type { Appended, EventBus, OutgoingEvent } from '../../src/server/ports/event-bus.ts'
import { recordBus } from '../support/events/bus-recorder.ts'
import { emptyTables } from '../support/datastores/empty-tables.ts'
import { POSTGRES, STORES, useDatastore } from '../support/datastores/stores.ts'
import { nodeOf, outgoing, outgoingRange } from '../support/events/outgoing-events.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const WAIT = { timeout: 10_000, interval: 10 }

for (const store of STORES) {
  describe.skipIf(store.missing)(`the event log on the ${store.name} datastore`, () => {
    const inUse = useDatastore(store)
    const clock = { nowMs: 0, now: () => clock.nowMs }
    let logs: EventBus[]

    beforeEach(async () => {
      clock.nowMs = Date.UTC(2027, 0, 1)
      logs = []
      await emptyTables(inUse.current())
      return async () => {
        for (const log of logs) await log.close()
      }
    })

    function open(pollMs?: number): EventBus {
      const datastore = inUse.current()
      const log = createEventLog({ datastore, clock, onFailure: () => undefined, ...(pollMs && { pollMs }) })
      logs.push(log)
      return log
    }

    /** Passes until nothing is left to do. @returns how long each took, ms, the shortest first. */
    async function retain(perNode = 10_000): Promise<readonly number[]> {
      const job = createEventRetention({ clock }, { ageMs: 7 * DAY_MS, perNode })
      const leading = { transaction: inUse.current().transaction.bind(undefined, 'worker') }
      const tookMs: number[] = []
      for (let more = true; more;) {
        const startedAt = performance.now()
        // The job uses nothing else of a leader.
        more = await job.run(leading as Parameters<typeof job.run>[0])
        tookMs.push(performance.now() - startedAt)
      }
      return tookMs.toSorted((one, other) => one - other)
    }

    async function keptOf(node: number): Promise<number[]> {
      const events = await open().read(nodeOf(node), { after: 0n, upTo: 10n ** 15n, max: 100_000 })
      return events.map(({ nodeSeq }) => Number(nodeSeq))
    }

    test('an append of this process reaches its follower without a poll', async () => {
      const log = open(HOUR_MS)
      const recorder = recordBus()
      await log.subscribe(recorder)
      await log.publish([outgoing(1, 1)])
      await vi.waitFor(() => expect(recorder.nodeSeqs(nodeOf(1))).toEqual([1]), WAIT)
      await log.publish([outgoing(1, 2)])
      await vi.waitFor(() => expect(recorder.nodeSeqs(nodeOf(1))).toEqual([1, 2]), WAIT)
    })

    test('what a transaction appended is followed once it has committed, between what others append', async () => {
      const log = open(HOUR_MS)
      const recorder = recordBus()
      await log.subscribe(recorder)
      const seen = () => recorder.events.map(({ nodeId, nodeSeq }) => [nodeId, Number(nodeSeq)])
      const [one, two] = [nodeOf(1), nodeOf(2)]
      /** Resolves with the outcomes. */
      const commit = async (events: readonly OutgoingEvent[], failure?: Error) => {
        let appended: Appended | undefined
        const work = inUse.current().transaction('worker', async (tx) => {
          appended = await log.enlisted?.append(tx, events)
          if (failure !== undefined) throw failure
        })
        await work.catch((error: unknown) => expect(error).toBe(failure))
        appended?.onEnd(failure === undefined)
        return appended?.outcomes.map((outcome) => outcome.kind)
      }
      expect(await commit([outgoing(1, 1), outgoing(2, 1)])).toEqual(['stored', 'stored'])
      await vi.waitFor(() => expect(seen()).toHaveLength(2), WAIT)
      await commit([outgoing(1, 2)], new Error('rolled back'))
      await open().publish([outgoing(2, 2)])
      // Both were appended by others as far as the follower knows, or had been there.
      await commit([outgoing(1, 2)])
      expect(await commit([outgoing(1, 2), outgoing(1, 3)])).toEqual(['stored', 'stored'])
      await vi.waitFor(() => expect(seen()).toHaveLength(5), WAIT)
      await commit([outgoing(1, 4)])
      await vi.waitFor(() => expect(seen()).toHaveLength(6), WAIT)
      expect(seen()).toEqual([
        [one, 1],
        [two, 1],
        [two, 2],
        [one, 2],
        [one, 3],
        [one, 4],
      ])
      expect(recorder.events.map(({ seq }) => seq)).toEqual(
        recorder.events.map(({ seq }) => seq).toSorted((a, b) => Number(a - b)),
      )
    })

    test('reads three pages at once, however many are asked for', async () => {
      const datastore = inUse.current()
      const waiting = { now: 0, most: 0 }
      let letThrough = (): void => undefined
      const gate = new Promise<void>((resolve) => (letThrough = resolve))
      const pool: typeof datastore.pool = (name) => datastore.pool(name).withPlugin(plugin)
      const plugin: KyselyPlugin = {
        transformQuery({ node }) {
          waiting.now += 1
          waiting.most = Math.max(waiting.most, waiting.now)
          return node
        },
        async transformResult({ result }) {
          await gate
          waiting.now -= 1
          return result
        },
      }
      const log = createEventLog({ datastore: { ...datastore, pool }, clock, onFailure: () => undefined })
      logs.push(log)
      await open().publish([outgoing(1, 1)])
      const range = { after: 0n, upTo: 10n ** 15n, max: 1 }
      const reads = Array.from({ length: 10 }, () => log.read(nodeOf(1), range))
      await vi.waitFor(() => expect(waiting.now).toBe(3), WAIT)
      letThrough()
      expect((await Promise.all(reads)).map(({ length }) => length)).toEqual(Array.from({ length: 10 }, () => 1))
      expect(waiting.most).toBe(3)
    })

    test('keeps seven days', async () => {
      const log = open()
      await log.publish(outgoingRange(1, 1, 2))
      clock.nowMs += 7 * DAY_MS
      await log.publish([outgoing(1, 3)])
      await retain()
      expect(await keptOf(1)).toEqual([1, 2, 3])
      clock.nowMs += 1
      await retain()
      expect(await keptOf(1)).toEqual([3])
    })

    test('keeps so many events of a node, and all of the others', async () => {
      const log = open()
      await log.publish([...outgoingRange(1, 1, 9), ...outgoingRange(2, 1, 4)])
      await retain(5)
      expect(await keptOf(1)).toEqual([5, 6, 7, 8, 9])
      expect(await keptOf(2)).toEqual([1, 2, 3, 4])
      await log.publish(outgoingRange(1, 10, 11))
      await retain(5)
      expect(await keptOf(1)).toEqual([7, 8, 9, 10, 11])
    })

    test('prunes in passes of less than 200 ms', { timeout: 180_000 }, async () => {
      await open().publish(outgoingRange(1, 1, 12_000))
      const tookMs = await retain(100)
      // The machine may be busy with something else once in a while.
      expect(tookMs[Math.floor(tookMs.length * 0.9)]).toBeLessThan(200)
      expect(await keptOf(1)).toEqual(Array.from({ length: 100 }, (_, index) => 11_901 + index))
    })

    test('gives no position twice after everything was pruned', async () => {
      const log = open()
      await log.publish(outgoingRange(1, 1, 3))
      clock.nowMs += 8 * DAY_MS
      await retain()
      expect(await log.bounds(nodeOf(1))).toEqual({ head: 3n, oldest: undefined, newest: undefined })
      await log.publish([outgoing(1, 4)])
      expect((await log.bounds(nodeOf(1))).oldest).toEqual({ seq: 4n, nodeSeq: 4n })
    })

    test('tells a follower of a gap when events were pruned before it read them, and goes on after it', async () => {
      const { log, cut, mend } = openBreakable()
      const recorder = recordBus()
      await log.subscribe(recorder)
      await cut()
      await append(inUse.current().pool('worker'), outgoingRange(1, 1, 6), new Date(clock.nowMs))
      await retain(2)
      mend()
      await log.publish([outgoing(1, 7)])
      await vi.waitFor(() => expect(recorder.nodeSeqs(nodeOf(1)).at(-1)).toBe(7), WAIT)
      expect(recorder.gaps).toBe(1)
      expect(recorder.nodeSeqs(nodeOf(1))).toEqual([5, 6, 7])
    })

    test('tells a follower of a gap when the log was set back to an earlier state, and follows that', async () => {
      const log = open(HOUR_MS)
      const recorder = recordBus()
      await log.publish(outgoingRange(1, 1, 6))
      await log.subscribe(recorder)
      await emptyTables(inUse.current())
      await log.publish([outgoing(2, 1)])
      await vi.waitFor(() => expect(recorder.gaps).toBe(1), WAIT)
      await log.publish([outgoing(2, 2)])
      await vi.waitFor(() => expect(recorder.nodeSeqs(nodeOf(2)).at(-1)).toBe(2), WAIT)
    })

    test('a follower that is far behind takes large events in pieces', { timeout: 180_000 }, async () => {
      const log = open(HOUR_MS)
      const sizes: number[] = []
      const recorder = recordBus()
      await log.subscribe({
        ...recorder,
        onEvents(events) {
          sizes.push(events.reduce((sum, { wire }) => sum + wire.length, 0))
          recorder.onEvents(events)
        },
      })
      const large = Array.from({ length: 30 }, (_, index) => outgoing(1, index + 1, 'x'.repeat(900_000)))
      await log.publish(large)
      await vi.waitFor(() => expect(recorder.events).toHaveLength(30), WAIT)
      expect(Math.max(...sizes)).toBeLessThan(6_000_000)
      expect(recorder.gaps).toBe(0)
    })

    test('goes on after a read that failed', async () => {
      const { log, cut, mend } = openBreakable()
      const recorder = recordBus()
      await log.subscribe(recorder)
      await log.publish([outgoing(1, 1)])
      await vi.waitFor(() => expect(recorder.events).toHaveLength(1), WAIT)
      await cut()
      await append(inUse.current().pool('worker'), [outgoing(1, 2)], new Date(clock.nowMs))
      mend()
      await log.publish([outgoing(1, 3)])
      await vi.waitFor(() => expect(recorder.nodeSeqs(nodeOf(1))).toEqual([1, 2, 3]), WAIT)
    })

    /** A log whose datastore can be taken away; `cut` resolves when its follower has noticed. */
    function openBreakable() {
      const datastore = inUse.current()
      const failures: unknown[] = []
      let isCut = false
      const log = createEventLog({
        clock,
        onFailure: (error) => void failures.push(error),
        datastore: {
          ...datastore,
          pool(name) {
            if (isCut && name === 'worker') throw new Error('no session')
            return datastore.pool(name)
          },
        },
      })
      logs.push(log)
      return {
        log,
        async cut() {
          isCut = true
          await expect(log.publish([outgoing(9, 1)])).rejects.toThrow('no session')
          await vi.waitFor(() => expect(failures[0]).toMatchObject({ message: 'no session' }), WAIT)
        },
        mend() {
          isCut = false
        },
      }
    }
  })
}

describe.skipIf(POSTGRES.missing)('several appenders of the event log', () => {
  const inUse = useDatastore(POSTGRES)
  const at = new Date(0)

  test('number in the order in which they commit: the second waits, so that no lower number shows later', async () => {
    const datastore = inUse.current()
    const log = createEventLog({ datastore, clock: { now: () => 0 }, pollMs: 10, onFailure: () => undefined })
    const recorder = recordBus()
    await log.subscribe(recorder)
    let commitFirst = (): void => undefined
    const gate = new Promise<void>((resolve) => {
      commitFirst = resolve
    })
    let hasSecondCommitted = false
    const first = datastore.transaction('worker', async (tx) => {
      await append(tx, [outgoing(1, 1)], at)
      await gate
    })
    await vi.waitFor(async () => expect(await sessions('idle in transaction')).toBe(1), WAIT)
    const second = append(datastore.pool('worker'), [outgoing(2, 1)], at).then(() => {
      hasSecondCommitted = true
    })
    await vi.waitFor(async () => expect(await sessions('active', 'Lock')).toBe(1), WAIT)
    expect(hasSecondCommitted).toBe(false)
    expect(recorder.events).toEqual([])
    commitFirst()
    await Promise.all([first, second])
    await vi.waitFor(() => expect(recorder.events).toHaveLength(2), WAIT)
    expect(recorder.events.map(({ seq, nodeId }) => [seq, nodeId])).toEqual([
      [1n, nodeOf(1)],
      [2n, nodeOf(2)],
    ])
    await log.close()
  })

  test('lose and repeat nothing for a follower while they race', { timeout: 180_000 }, async () => {
    const datastore = inUse.current()
    const log = createEventLog({ datastore, clock: { now: () => 0 }, pollMs: 5, onFailure: () => undefined })
    const recorder = recordBus()
    const { from } = await log.subscribe(recorder)
    await Promise.all(
      [10, 11, 12, 13, 14, 15, 16, 17].map(async (node) => {
        for (let nodeSeq = 1; nodeSeq <= 100; nodeSeq++)
          await datastore.transaction('worker', async (tx) => {
            await append(tx, [outgoing(node, nodeSeq)], at)
            if (nodeSeq % 3 === 0) await sql`select pg_sleep(0.002)`.execute(tx)
          })
      }),
    )
    await vi.waitFor(() => expect(recorder.events).toHaveLength(800), WAIT)
    const rising = Array.from({ length: 800 }, (_, index) => from + BigInt(index + 1))
    expect(recorder.events.map(({ seq }) => seq)).toEqual(rising)
    await log.close()
  })

  /** Sessions of this server in that state, and waiting for that where it is said. */
  async function sessions(state: string, waitingFor?: string): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      select count(*)::integer as count from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and state = ${state}
        and (${waitingFor ?? null}::text is null or wait_event_type = ${waitingFor ?? null}::text)`.execute(
      inUse.current().pool('bulk'),
    )
    return rows[0]?.count ?? 0
  }
})
