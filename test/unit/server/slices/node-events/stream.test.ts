import pino from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { StreamSink } from '../../../../../src/shared/contract/operation.ts'
import { problem } from '../../../../../src/shared/problems.ts'
import { createHub, type Hub } from '../../../../../src/server/slices/node-events/hub.ts'
import type { EndReason } from '../../../../../src/server/http/streams/stream-meter.ts'
import type { NodeStream } from '../../../../../src/server/slices/node-events/stream.ts'
import { DatastoreError } from '../../../../../src/server/ports/datastore.ts'
import type { Signer } from '../../../../../src/server/ports/signer.ts'
import { createFaultyBus, type FaultyBus } from '../../../../support/events/faulty-bus.ts'

const ROUND_MS = 25_000
const NODE = 'node-a'

let bus: FaultyBus
let hub: Hub
let ends: EndReason[]
let written: string
let isStuck: boolean

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'performance'] })
  bus = createFaultyBus()
  ends = []
  written = ''
  isStuck = false
})
afterEach(async () => {
  await hub.stop()
  vi.useRealTimers()
})

async function start(confirm: () => void | Promise<void>, seq?: bigint): Promise<NodeStream> {
  hub = createHub({
    bus,
    // Nothing here is lost, and so nothing is signed.
    catchUpDeps: {
      resync: { signer: {} as Signer, clock: { now: () => 0 }, ids: { next: () => 'id' } },
      publishedUpTo: async () => 0n,
    },
    meter: { opened() {}, frame() {}, ended: (reason) => void ends.push(reason), rejected() {} },
    usage: { count() {} },
    log: pino({ level: 'silent' }),
    keepAliveMs: ROUND_MS,
    retryMs: 1_000,
  })
  await hub.start()
  const stream = hub.open({
    node: { nodeId: NODE, domainId: 'd' },
    isOwn: true,
    reauthorization: { confirm },
    seq: seq ?? hub.position(),
    isClaimed: seq !== undefined,
  })
  const sink: StreamSink = {
    write(bytes) {
      if (!stream.isOver) written += Buffer.from(bytes).toString()
      return !stream.isOver
    },
    unsent: () => (isStuck ? 512 * 1024 : 0),
    drained: () => new Promise(() => undefined),
    end: () => stream.ended('operation'),
  }
  stream.start(sink)
  return stream
}

const aliveCount = (): number => written.split(':keep-alive\n\n').length - 1

describe('a stream as time goes by', () => {
  it('is kept alive once in 25 seconds, and asked after as often', async () => {
    const confirm = vi.fn()
    await start(confirm)
    expect([aliveCount(), confirm.mock.calls.length]).toEqual([1, 0])
    await vi.advanceTimersByTimeAsync(ROUND_MS)
    expect([aliveCount(), confirm.mock.calls.length]).toEqual([2, 1])
    await vi.advanceTimersByTimeAsync(10 * ROUND_MS)
    expect([aliveCount(), confirm.mock.calls.length]).toEqual([12, 11])
  })

  it.each([
    [
      'at once',
      () => {
        throw problem('nsk_revoked')
      },
    ],
    [
      'later',
      async () => {
        throw problem('unauthorized')
      },
    ],
    [
      'by the gate',
      () => {
        throw new Error('refused: lacks node-agent')
      },
    ],
  ])('ends where its reader is refused, %s', async (_when, confirm) => {
    await start(confirm)
    await vi.advanceTimersByTimeAsync(ROUND_MS)
    expect(ends).toEqual(['refused'])
  })

  it.each([
    [
      'the datastore',
      () => {
        throw problem('datastore_unavailable')
      },
    ],
    [
      'the connection to it',
      async () => {
        throw new DatastoreError('unavailable', 'gone', new Error('gone'))
      },
    ],
    [
      'the authorization engine',
      async () => {
        throw problem('authz_unavailable')
      },
    ],
  ])('goes on for five minutes while %s cannot be asked', async (_what, confirm) => {
    await start(confirm)
    await vi.advanceTimersByTimeAsync(300_000)
    expect(ends).toEqual([])
    await vi.advanceTimersByTimeAsync(2 * ROUND_MS)
    expect(ends).toEqual(['unconfirmed'])
  })

  it('counts the five minutes anew once it was confirmed', async () => {
    let isAway = true
    await start(() => {
      if (isAway) throw problem('datastore_unavailable')
    })
    await vi.advanceTimersByTimeAsync(290_000)
    isAway = false
    await vi.advanceTimersByTimeAsync(ROUND_MS)
    isAway = true
    await vi.advanceTimersByTimeAsync(290_000)
    expect(ends).toEqual([])
  })

  it('ends where a replay waits for its reader for a minute', async () => {
    for (let count = 0; count < 3; count++) bus.add(NODE)
    isStuck = true
    await start(() => undefined, 0n)
    await vi.advanceTimersByTimeAsync(ROUND_MS)
    expect(ends).toEqual([])
    await vi.advanceTimersByTimeAsync(3 * ROUND_MS)
    expect(ends).toEqual(['slow'])
  })

  it('is open for half an hour and has what comes then', async () => {
    await start(() => undefined)
    await vi.advanceTimersByTimeAsync(1_800_000)
    bus.add(NODE)
    expect(aliveCount()).toBe(73)
    expect(written).toContain('"node_seq":1')
    expect(ends).toEqual([])
  })

  it('is found again by a hub that could not reach the bus at its start', async () => {
    bus.setAway(true)
    const stream = await start(() => undefined)
    expect(hub.isFollowing()).toBe(false)
    bus.setAway(false)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(hub.isFollowing()).toBe(true)
    bus.add(NODE)
    expect([stream.isLive, stream.nodeSeq]).toEqual([true, 1n])
  })
})
