import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { EventBus } from '../../src/server/ports/event-bus.ts'
import { recordBus } from '../support/events/bus-recorder.ts'
import { nodeOf, outgoing, outgoingRange } from '../support/events/outgoing-events.ts'

/** A stream as the suite needs it. Each bus stands for a replica. */
export interface BusInUse {
  /** Empties the stream. */
  empty(): Promise<void>
  /** Opens a bus over the one stream; closed by the suite. */
  open(): Promise<EventBus>
  /** Makes the stream unreachable, and reachable again. Undefined where it cannot be taken away from the process. */
  readonly outage: { begin(): Promise<void>; end(): Promise<void> } | undefined
  /** Keeps the last three events of each node and prunes the rest. */
  prune(): Promise<void>
}

const STORED = { kind: 'stored' } as const
const WAIT = { timeout: 10_000, interval: 10 }

/** What a bus promises over every stream (`ports/event-bus.ts`). `use` is called within the `describe`. */
export function eventBusContract(name: string, use: () => BusInUse, isMissing = false): void {
  describe.skipIf(isMissing)(`the event bus on ${name}`, () => {
    const stream = use()
    let opened: EventBus[]

    beforeEach(async () => {
      await stream.empty()
      opened = []
      return async () => {
        for (const bus of opened) await bus.close()
      }
    })

    async function open(): Promise<EventBus> {
      const bus = await stream.open()
      opened.push(bus)
      return bus
    }

    async function follow(bus: EventBus) {
      const recorder = recordBus()
      const subscription = await bus.subscribe(recorder)
      return { ...subscription, recorder }
    }

    async function readAll(bus: EventBus, node: number, after = 0n) {
      const { head } = await bus.bounds(nodeOf(node))
      return bus.read(nodeOf(node), { after, upTo: head, max: 10_000 })
    }

    const nodeSeqsOf = (events: readonly { nodeSeq: bigint }[]) => events.map(({ nodeSeq }) => Number(nodeSeq))

    describe('publishing', () => {
      test('stores the events of each node in the order given, under rising positions', async () => {
        const bus = await open()
        const events = [outgoing(1, 1), outgoing(2, 1), outgoing(1, 2), outgoing(2, 2), outgoing(1, 3)]
        expect(await bus.publish(events)).toEqual(events.map(() => STORED))
        const first = await readAll(bus, 1)
        expect(nodeSeqsOf(first)).toEqual([1, 2, 3])
        expect(nodeSeqsOf(await readAll(bus, 2))).toEqual([1, 2])
        const positions = first.map(({ seq }) => seq)
        expect(positions).toEqual(positions.toSorted((a, b) => (a < b ? -1 : 1)))
      })

      test('hands an event out as it was given: node, number, type and every byte of the envelope', async () => {
        const bus = await open()
        const event = outgoing(1, 1, 'é "quoted" \\ 𝄞 {},\n')
        await bus.publish([event])
        expect(await readAll(bus, 1)).toEqual([
          { seq: expect.any(BigInt), nodeId: event.nodeId, nodeSeq: 1n, type: event.type, wire: event.wire },
        ])
      })

      test('stores an event once, however often and by whichever replica it is given', async () => {
        const [one, other] = [await open(), await open()]
        await one.publish(outgoingRange(1, 1, 3))
        expect(await other.publish(outgoingRange(1, 1, 4))).toEqual([STORED, STORED, STORED, STORED])
        expect(await one.publish(outgoingRange(1, 2, 3))).toEqual([STORED, STORED])
        expect(nodeSeqsOf(await readAll(one, 1))).toEqual([1, 2, 3, 4])
      })

      test('takes no harm from an event that is twice in one call, nor from an empty call', async () => {
        const bus = await open()
        expect(await bus.publish([outgoing(1, 1), outgoing(1, 1), outgoing(1, 2)])).toEqual([STORED, STORED, STORED])
        expect(await bus.publish([])).toEqual([])
        expect(nodeSeqsOf(await readAll(bus, 1))).toEqual([1, 2])
      })

      test('goes on where numbers of a node are missing', async () => {
        const bus = await open()
        await bus.publish([outgoing(1, 1), outgoing(1, 5)])
        expect(nodeSeqsOf(await readAll(bus, 1))).toEqual([1, 5])
      })

      test('refuses an event that is too large, holds what its node has after it, and stores everything else', async () => {
        const bus = await open()
        const events = [
          outgoing(1, 1),
          outgoing(1, 2, 'x'.repeat(1_100_000)),
          outgoing(2, 1),
          outgoing(1, 3),
          outgoing(2, 2),
        ]
        expect(await bus.publish(events)).toEqual([
          STORED,
          { kind: 'refused', reason: expect.stringMatching(/^it has \d+ bytes, more than /) },
          STORED,
          { kind: 'held' },
          STORED,
        ])
        expect(nodeSeqsOf(await readAll(bus, 1))).toEqual([1])
        expect(nodeSeqsOf(await readAll(bus, 2))).toEqual([1, 2])
      })

      test('stores thousands of events of many nodes in one call', async () => {
        const bus = await open()
        const events = Array.from({ length: 3_000 }, (_, index) => outgoing(index % 100, Math.floor(index / 100) + 1))
        expect(new Set((await bus.publish(events)).map(({ kind }) => kind))).toEqual(new Set(['stored']))
        for (const node of [0, 57, 99])
          expect(nodeSeqsOf(await readAll(bus, node))).toEqual(Array.from({ length: 30 }, (_, index) => index + 1))
      })
    })

    describe('reading', () => {
      test('has no events and a head of its own before the first', async () => {
        const bus = await open()
        const { head, oldest, newest } = await bus.bounds(nodeOf(1))
        expect([oldest, newest]).toEqual([undefined, undefined])
        expect(await bus.read(nodeOf(1), { after: 0n, upTo: head, max: 10 })).toEqual([])
      })

      test('tells the head of all nodes and both ends of one', async () => {
        const bus = await open()
        await bus.publish(outgoingRange(1, 1, 3))
        await bus.publish(outgoingRange(2, 1, 2))
        const [first, , last] = await readAll(bus, 1)
        const [, lastOfOther] = await readAll(bus, 2)
        expect(await bus.bounds(nodeOf(1))).toEqual({
          head: lastOfOther?.seq,
          oldest: { seq: first?.seq, nodeSeq: 1n },
          newest: { seq: last?.seq, nodeSeq: 3n },
        })
      })

      test('reads exactly what is after one position and up to another, page by page', async () => {
        const bus = await open()
        await bus.publish(Array.from({ length: 200 }, (_, index) => outgoing(index % 2, Math.floor(index / 2) + 1)))
        const all = await readAll(bus, 1)
        const at = (index: number): bigint => all[index]?.seq ?? -1n
        const range = async (after: bigint, upTo: bigint, max: number) =>
          nodeSeqsOf(await bus.read(nodeOf(1), { after, upTo, max }))
        expect(await range(at(4), at(9), 100)).toEqual([6, 7, 8, 9, 10])
        expect(await range(at(4), at(9) - 1n, 100)).toEqual([6, 7, 8, 9])
        expect(await range(at(4), at(9), 2)).toEqual([6, 7])
        expect(await range(at(99), at(99), 100)).toEqual([])
        expect(await range(at(99), at(99) + 1_000n, 100)).toEqual([])
        expect(await range(at(3), at(89), 50)).toEqual(Array.from({ length: 50 }, (_, index) => index + 5))
        expect(await range(at(3), at(89), 100)).toEqual(Array.from({ length: 86 }, (_, index) => index + 5))
        expect(await range(0n, at(0), 100)).toEqual([1])
        expect(await range(at(10), at(29), 100)).toEqual(Array.from({ length: 19 }, (_, index) => index + 12))
      })

      test('has the ends of what is left once the oldest were pruned', async () => {
        const bus = await open()
        await bus.publish([...outgoingRange(1, 1, 8), outgoing(2, 1)])
        await stream.prune()
        const { oldest, newest } = await bus.bounds(nodeOf(1))
        expect([oldest?.nodeSeq, newest?.nodeSeq]).toEqual([6n, 8n])
        expect(nodeSeqsOf(await readAll(bus, 1))).toEqual([6, 7, 8])
        expect(nodeSeqsOf(await readAll(bus, 2))).toEqual([1])
      })
    })

    describe('following', () => {
      test('begins after what is there, and hears of every node in the order of the stream', async () => {
        const bus = await open()
        await bus.publish(outgoingRange(1, 1, 2))
        const { recorder, from } = await follow(bus)
        expect(from).toBe((await bus.bounds(nodeOf(1))).head)
        await bus.publish([outgoing(2, 1), outgoing(1, 3), outgoing(3, 1)])
        await vi.waitFor(() => expect(recorder.events).toHaveLength(3), WAIT)
        const kept = [...(await readAll(bus, 2)), ...(await readAll(bus, 1, from)), ...(await readAll(bus, 3))]
        expect(recorder.events).toEqual(kept.toSorted((one, other) => (one.seq < other.seq ? -1 : 1)))
        expect(recorder.gaps).toBe(0)
      })

      test('hears of what another replica publishes', async () => {
        const [one, other] = [await open(), await open()]
        const { recorder } = await follow(one)
        await other.publish(outgoingRange(1, 1, 2))
        await vi.waitFor(() => expect(recorder.nodeSeqs(nodeOf(1))).toEqual([1, 2]), WAIT)
      })

      test('takes over from a read without a gap or an event twice, while several replicas publish', async () => {
        const publishers = [await open(), await open(), await open()]
        const bus = await open()
        let goOn = (): void => undefined
        const isRead = new Promise<void>((resolve) => (goOn = resolve))
        const publishing = Promise.all(
          publishers.map(async (publisher, index) => {
            for (let nodeSeq = 1; nodeSeq <= 300; nodeSeq += 3) {
              // A fast bus would have everything before the reader comes.
              if (nodeSeq > 60) await isRead
              await publisher.publish([
                ...outgoingRange(2 * index, nodeSeq, nodeSeq + 2),
                ...outgoingRange(2 * index + 1, nodeSeq, nodeSeq + 2),
              ])
            }
          }),
        )
        await vi.waitFor(async () => expect((await readAll(bus, 0)).length).toBeGreaterThan(15), WAIT)
        goOn()
        const { recorder, from } = await follow(bus)
        await publishing
        // Each publisher is done at another moment.
        for (const node of [0, 1, 2, 3, 4, 5])
          await vi.waitFor(() => expect(recorder.nodeSeqs(nodeOf(node)).at(-1)).toBe(300), WAIT)
        const whole = Array.from({ length: 300 }, (_, index) => index + 1)
        for (const node of [0, 1, 2, 3, 4, 5]) {
          const before = await bus.read(nodeOf(node), { after: 0n, upTo: from, max: 1_000 })
          expect([...nodeSeqsOf(before), ...recorder.nodeSeqs(nodeOf(node))]).toEqual(whole)
        }
        const positions = recorder.events.map(({ seq }) => seq)
        expect(positions).toEqual([...new Set(positions)].toSorted((a, b) => (a < b ? -1 : 1)))
        expect(recorder.gaps).toBe(0)
      })

      test('hears of nothing any more once it is stopped', async () => {
        const bus = await open()
        const { recorder, stop } = await follow(bus)
        await bus.publish([outgoing(1, 1)])
        await vi.waitFor(() => expect(recorder.events).toHaveLength(1), WAIT)
        await stop()
        const another = await follow(bus)
        await bus.publish([outgoing(1, 2)])
        await vi.waitFor(() => expect(another.recorder.nodeSeqs(nodeOf(1))).toEqual([2]), WAIT)
        expect(recorder.events).toHaveLength(1)
      })
    })

    test('answers a ping and is not away', async () => {
      const bus = await open()
      await bus.ping(2_000)
      expect(bus.awaySinceMs()).toBeUndefined()
    })

    describe.skipIf(stream.outage === undefined)('through an outage', () => {
      test('refuses everything at once, says since when, and goes on by itself with nothing missed', async () => {
        const bus = await open()
        const { recorder } = await follow(bus)
        await bus.publish([outgoing(1, 1)])
        await vi.waitFor(() => expect(recorder.events).toHaveLength(1), WAIT)
        const { head } = await bus.bounds(nodeOf(1))

        await stream.outage?.begin()
        const startedAt = performance.now()
        const unavailable = { name: 'EventBusUnavailable' }
        await expect(bus.publish([outgoing(1, 2)])).rejects.toMatchObject(unavailable)
        await expect(bus.bounds(nodeOf(1))).rejects.toMatchObject(unavailable)
        await expect(bus.read(nodeOf(1), { after: 0n, upTo: head, max: 5 })).rejects.toMatchObject(unavailable)
        await expect(bus.ping(1_000)).rejects.toMatchObject(unavailable)
        expect(performance.now() - startedAt).toBeLessThan(8_000)
        expect(bus.awaySinceMs()).toBeTypeOf('number')

        await stream.outage?.end()
        await vi.waitFor(() => bus.publish(outgoingRange(1, 2, 3)), { timeout: 20_000, interval: 100 })
        await vi.waitFor(() => expect(recorder.nodeSeqs(nodeOf(1))).toEqual([1, 2, 3]), WAIT)
        expect(bus.awaySinceMs()).toBeUndefined()
        expect(recorder.gaps).toBe(0)
        expect(nodeSeqsOf(await readAll(bus, 1))).toEqual([1, 2, 3])
      })
    })
  })
}
