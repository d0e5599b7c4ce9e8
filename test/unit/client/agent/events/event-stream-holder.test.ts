import { afterEach, describe, expect, it, vi } from 'vitest'
import { createCaller } from '../../../../../src/client/client.ts'
import { createTransport } from '../../../../../src/client/transport.ts'
import { holdStream, type StreamDeps } from '../../../../../src/client/agent/events/event-stream-holder.ts'
import type { HeldStream } from '../../../../../src/client/agent/events/held-stream.ts'
import { createNodeStreams } from '../../../../../src/client/agent/events/node-streams.ts'
import { simulatedNode, type SimulatedNode } from '../../../../../src/cli/agent-sim/simulated-node.ts'
import { createStatistics, type Statistics } from '../../../../../src/cli/agent-sim/statistics.ts'
import { createSystemClock } from '../../../../../src/client/agent/system-clock.ts'
import { manifest } from '../../../../support/cli/cli-run.ts'
import { startEventStub, type EventStub, type StubConnection } from '../../../../support/events/event-stub.ts'
import { frameOf, NODE_ID, vector, vectorKey } from '../../../../support/events/event-vectors.ts'

const KEY = vectorKey('key-1', 7)
/** Longer than a loaded machine takes for what a test waits for. */
const SOON_MS = 5_000
const THIEF = { ...vectorKey('key-1', 9) }
const HEAD_ID = '9007199254740991'
const RESYNC = { reason: 'resync', blocks: [], peers: [] }

const frame = (node_seq: number, more: object = {}): string =>
  frameOf(vector(KEY, { node_seq, ...more }), node_seq * 10)

describe('An agent that holds its event stream', () => {
  const closing: (() => unknown)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close()
  })

  interface Agent {
    readonly stub: EventStub
    readonly statistics: Statistics
    readonly held: HeldStream
    counts(): Readonly<Record<string, number>>
  }

  /** An agent of a node whose server has `head` events and plays the stream as scripted. */
  async function agentOf(
    script: (connection: StubConnection, stream: number) => void,
    { head = 0, last = {}, ...own }: { head?: number; last?: object } & Partial<StreamDeps<SimulatedNode>> = {},
  ): Promise<Agent> {
    let streams = 0
    const stub = await startEventStub((connection) => {
      const { path, lastEventId, refuse, send } = connection
      if (path === '/v1/signing-keys') return refuse(200, { keys: [KEY.jwk] }, { 'content-type': 'application/json' })
      if (lastEventId === HEAD_ID) return send(frame(head, { payload: RESYNC }))
      streams += 1
      return script(connection, streams)
    })
    const transport = createTransport({ url: stub.url })
    const caller = createCaller({ manifest, transport, triesMax: 1 })
    const statistics = createStatistics()
    const identity = { node_id: NODE_ID, name: 'n', nsk: 'nsk_n', private_key: '', ...last }
    const held = holdStream(
      { clock: createSystemClock(), statistics, streams: createNodeStreams(caller, manifest), ...own },
      simulatedNode(identity, 0),
    )
    closing.push(
      () => stub.close(),
      () => transport.close(),
      () => held.stop(),
    )
    return { stub, statistics, held, counts: () => statistics.summary().counts }
  }

  const never = (): AbortSignal => new AbortController().signal

  it('counts every event of its node from the first, with its own credential', async () => {
    const { held, counts, stub } = await agentOf(({ send }) => send(frame(1) + frame(2) + frame(3)), { head: 3 })
    await held.firstTry
    await held.confirm(never())
    expect(counts()).toMatchObject({ streams: 1, events: 3, missed_events: 0, unconfirmed_streams: 0, errors: 0 })
    expect(stub.connections[0]).toMatchObject({ lastEventId: '0', headers: { authorization: 'Bearer nsk_n' } })
    expect(held.progress()).toEqual({
      last_event_id: '30',
      last_node_seq: 3,
      last_occurred_at: '2026-01-02T03:04:05.678Z',
    })
  })

  it('goes on where an earlier run left off, and misses what came between', async () => {
    const last = { last_event_id: '30', last_node_seq: 3 }
    const { held, counts, stub } = await agentOf(({ send }) => send(frame(5)), { head: 5, last })
    await held.confirm(never())
    expect(counts()).toMatchObject({ events: 1, missed_events: 1 })
    expect(stub.connections.map(({ lastEventId }) => lastEventId)).toContain('30')
  })

  it('counts events that never arrived as missed, by the signed head of the server', async () => {
    const { held, counts } = await agentOf(({ send }) => send(frame(1)), { head: 4 })
    await held.confirm(AbortSignal.timeout(300))
    expect(counts()).toMatchObject({ events: 1, missed_events: 3 })
  })

  it('waits for delayed events', async () => {
    const { held, counts } = await agentOf(
      ({ send }) => {
        send(frame(1))
        setTimeout(() => send(frame(2)), 200)
      },
      { head: 2 },
    )
    await held.confirm(never())
    expect(counts()).toMatchObject({ events: 2, missed_events: 0 })
  })

  it('counts streams that could not be compared', async () => {
    const { held, counts, stub } = await agentOf(({ refuse }) =>
      refuse(501, { code: 'signed_event_bus_not_provisioned', status: 501 }),
    )
    await held.firstTry
    await stub.close()
    await held.confirm(AbortSignal.timeout(200))
    expect(counts()).toMatchObject({ streams: 0, unconfirmed_streams: 1, missed_events: 0 })
    expect(counts()['errors']).toBeGreaterThan(0)
  })

  it('counts each kind of invalid frame and handles none', async () => {
    const two = vector(KEY, { node_seq: 2 })
    const lies = [
      frame(1),
      frame(1),
      frameOf(vector(THIEF, { node_seq: 2 }), 11),
      frameOf(vector(vectorKey('key-9', 9), { node_seq: 2 }), 12),
      frameOf({ ...two, wire: two.wire.slice(0, -2) }, 13),
      frameOf({ ...two, wire: two.wire.replace('{', '{ ') }, 14),
      frame(2, { node_id: '0197a000-0000-7000-8000-00000000a002' }),
      frameOf(two, 15, 'session_setup'),
      frame(4),
      frame(2),
      frame(5, { payload: RESYNC }),
    ]
    const { counts, held } = await agentOf(({ send }) => send(lies.join('')))
    await vi.waitFor(() => expect(counts()['resyncs']).toBe(1), SOON_MS)
    expect(counts()).toMatchObject({
      events: 4,
      duplicate_events: 1,
      bad_signatures: 2,
      refused_frames: 4,
      missed_events: 1,
      reordered_events: 1,
    })
    expect(held.progress()).toMatchObject({ last_event_id: '50', last_node_seq: 5 })
  })

  const refusing =
    (status: number, code: string) =>
    ({ refuse }: StubConnection): void =>
      refuse(status, { code, status, title: code, detail: code })

  const eventsOf = ({ stub }: Agent) => stub.connections.filter(({ path }) => path.endsWith('/events'))

  it.each([401, 403])('is opened again after a final refusal (%i) only where that is wanted', async (status) => {
    const refused = refusing(status, status === 401 ? 'nsk_revoked' : 'forbidden')
    const once = await agentOf(refused)
    await once.held.firstTry
    const again = await agentOf(
      (connection, stream) => (stream > 1 ? connection.send(frame(1)) : refused(connection)),
      {
        reopensAfterMs: 10,
      },
    )
    if (status === 403) await vi.waitFor(() => expect(again.counts()['events']).toBe(1), SOON_MS)
    await again.held.firstTry
    expect([eventsOf(once).length, eventsOf(again).length]).toEqual([1, status === 401 ? 1 : 2])
  })

  it('has had its first try when it is refused for a while, and is opened after the time that the server asks for', async () => {
    const overloaded = { code: 'overloaded', status: 503, title: 'overloaded', detail: 'overloaded' }
    const askedMs: number[] = []
    const agent = await agentOf(({ refuse, send }, stream) => {
      askedMs.push(performance.now())
      if (stream === 1) refuse(503, overloaded, { 'retry-after': '1' })
      else send(frame(1))
    })
    await agent.held.firstTry
    expect([eventsOf(agent).length, agent.held.isOpen()]).toEqual([1, false])
    expect(agent.counts()).toMatchObject({ streams: 0, retries: 1, errors: 0 })
    await vi.waitFor(() => expect(agent.counts()).toMatchObject({ streams: 1, events: 1, errors: 0 }), SOON_MS)
    const [first = 0, second = 0] = askedMs
    // Timers may be a millisecond early.
    expect(second - first).toBeGreaterThanOrEqual(999)
  })

  it('reports the refusal of its key', async () => {
    const onRefused = vi.fn()
    await agentOf(refusing(401, 'nsk_revoked'), { onRefused, reopensAfterMs: 10 })
    await vi.waitFor(() => expect(onRefused).toHaveBeenCalled(), SOON_MS)
    expect(onRefused.mock.calls).toEqual([[expect.objectContaining({ isKeyRefused: true }), 'nsk_revoked']])
  })

  it.each([
    ['next', 'new', ['Bearer new']],
    ['old one where the server does not know the next', 'old', ['Bearer new', 'Bearer old']],
  ])('is opened with the %s key', async (_, valid, presented) => {
    const agent = await agentOf(
      ({ headers, send, refuse }) =>
        headers.authorization === `Bearer ${valid}`
          ? send(frame(1))
          : refuse(401, { code: 'unauthorized', status: 401 }),
      { last: { nsk: 'old', next_nsk: 'new' } },
    )
    await vi.waitFor(() => expect(agent.counts()['events']).toBe(1), SOON_MS)
    expect(eventsOf(agent).map(({ headers }) => headers.authorization)).toEqual(presented)
  })

  it('ignores a resync of an earlier run that is replayed', async () => {
    const last = { last_event_id: '90', last_node_seq: 9, last_occurred_at: '2026-01-02T03:04:06.000Z' }
    const { counts, held } = await agentOf(({ send }) => send(frame(2, { payload: RESYNC }) + frame(10)), { last })
    await vi.waitFor(() => expect(counts()['events']).toBe(1), SOON_MS)
    expect([counts()['duplicate_events'], held.progress().last_node_seq]).toEqual([1, 10])
  })

  it('resumes after an event that it has seen, and is notified of a frame that is no event of its node', async () => {
    const onDropped = vi.fn()
    const again = frameOf(vector(KEY, { node_seq: 1 }), 15)
    const forged = frameOf(vector(THIEF, { node_seq: 2 }), 16)
    const { counts, held } = await agentOf(({ send }) => send(frame(1) + again + forged), { onDropped })
    await vi.waitFor(() => expect(counts()).toMatchObject({ duplicate_events: 1, bad_signatures: 1 }), SOON_MS)
    expect([held.progress().last_event_id, onDropped.mock.calls.length]).toEqual(['15', 1])
  })

  it('resumes after a broken connection, counts it and misses no event', async () => {
    const { counts, stub } = await agentOf(({ send, hangUp }, stream) => {
      send(frame(stream))
      if (stream < 2) setTimeout(hangUp, 20)
    })
    await vi.waitFor(() => expect(counts()).toMatchObject({ events: 2, stream_reconnects: 1, streams: 1 }), SOON_MS)
    expect(counts()).toMatchObject({ missed_events: 0, duplicate_events: 0 })
    expect(
      stub.connections.filter(({ path }) => path.endsWith('/events')).map(({ lastEventId }) => lastEventId),
    ).toEqual(['0', '10'])
  })
})
