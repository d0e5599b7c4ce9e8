import { execFile, fork } from 'node:child_process'
import { createPublicKey, verify } from 'node:crypto'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { EventSource } from 'eventsource'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createEventLog } from '../../src/server/adapters/event-log/event-log.ts'
import { openJetStreamBus } from '../../src/server/adapters/jetstream/jetstream.ts'
import type { Clock } from '../../src/server/ports/clock.ts'
import type { Datastore } from '../../src/server/ports/datastore.ts'
import type { EventBus } from '../../src/server/ports/event-bus.ts'
import { depth } from '../support/run/depth.ts'
import { createFaultyBus, type FaultyBus } from '../support/events/faulty-bus.ts'
import type { Enrolled } from '../support/fleet/fleet.ts'
import { openRawStream, type RawStream } from '../support/network/raw-stream.ts'
import { startNatsServer, type NatsServer } from '../support/events/nats-server.ts'
import { requirement } from '../support/run/requirements.mjs'
import { requestBytes } from '../support/network/raw-socket.ts'
import { EMBEDDED, STORES, type TestStore } from '../support/datastores/stores.ts'
import { framesOf, startStreamedFleet, type StreamedFleet } from '../support/fleet/streamed-fleet.ts'

const WAIT = { interval: 10, timeout: 20_000 }

let fleet: StreamedFleet
let bus: FaultyBus
let domainId: string
const opened: RawStream[] = []

async function begin(keepAliveMs?: number): Promise<void> {
  bus = createFaultyBus()
  fleet = await startStreamedFleet(EMBEDDED, () => bus, keepAliveMs === undefined ? {} : { keepAliveMs })
  domainId = await fleet.domain()
}

afterEach(() => {
  for (const stream of opened.splice(0)) stream.destroy()
})

async function follow(node: Enrolled, asking: Parameters<StreamedFleet['follow']>[1] = {}): Promise<RawStream> {
  const stream = await fleet.follow(node, asking)
  opened.push(stream)
  return stream
}

/** A stream that is there. */
async function following(node: Enrolled, asking: Parameters<StreamedFleet['follow']>[1] = {}): Promise<RawStream> {
  const stream = await follow(node, asking)
  await expect.poll(stream.text, WAIT).toContain(':keep-alive\n\n')
  return stream
}

async function refusal(node: Enrolled, asking: Parameters<StreamedFleet['follow']>[1] = {}): Promise<string> {
  const stream = await follow(node, asking)
  await expect.poll(stream.text, WAIT).toMatch(/\}$/)
  const [head = '', body = ''] = stream.text().split('\r\n\r\n')
  return `${head.split(' ')[1]} ${JSON.parse(body).code}`
}

const seqsOf = (stream: RawStream): unknown[] => framesOf(stream.text()).map(({ data }) => data['node_seq'])

describe('the event stream of a node', () => {
  beforeAll(() => begin())
  afterAll(() => fleet.stop())

  it('has the head that S0 gives it', async () => {
    const stream = await following(await fleet.enrol(domainId))
    const head = (stream.text().split('\r\n\r\n')[0] ?? '').toLowerCase()
    for (const line of [
      'http/1.1 200 ok',
      'content-type: text/event-stream',
      'cache-control: no-cache',
      'x-accel-buffering: no',
      'x-service-api-version: current=v1, latest=v1',
    ])
      expect(head.split('\r\n')).toContain(line)
  })

  it('has what comes next, and nothing of before', async () => {
    const node = await fleet.enrol(domainId)
    bus.add(node.node_id)
    const stream = await following(node)
    const event = bus.add(node.node_id)
    await expect
      .poll(() => framesOf(stream.text()), WAIT)
      .toEqual([{ id: String(event.seq), event: 'node_state_updated', data: { node_id: node.node_id, node_seq: 2 } }])
  })

  it('has an empty Last-Event-ID for none', async () => {
    const node = await fleet.enrol(domainId)
    bus.add(node.node_id)
    const stream = await following(node, { lastEventId: '' })
    bus.add(node.node_id)
    await expect.poll(() => seqsOf(stream), WAIT).toEqual([2])
  })

  it('goes on strictly after the id that it is given, over many pages', async () => {
    const node = await fleet.enrol(domainId)
    const events = Array.from({ length: 200 }, () => bus.add(node.node_id))
    const stream = await following(node, { lastEventId: String(events[1]?.seq) })
    bus.add(node.node_id)
    await expect.poll(() => seqsOf(stream).length, WAIT).toBe(199)
    expect(seqsOf(stream)).toEqual(Array.from({ length: 199 }, (_, index) => index + 3))
  })

  it.each(['0', '000'])('replays everything that is kept after %s', async (lastEventId) => {
    const node = await fleet.enrol(domainId)
    bus.add(node.node_id)
    bus.add(node.node_id)
    const stream = await following(node, { lastEventId })
    await expect.poll(() => seqsOf(stream), WAIT).toEqual([1, 2])
  })

  it.each([
    'x',
    '-1',
    '+1',
    '1.0',
    '1e3',
    '0x10',
    '1 2',
    '1, 2',
    '1_000',
    '\u00b2',
    'null',
    '18446744073709551614',
    '18446744073709551615',
    '18446744073709551616',
    '99999999999999999999999',
    '9'.repeat(4_000),
    `1${'0'.repeat(4_000)}`,
  ])('opens no stream for the Last-Event-ID %s', async (lastEventId) => {
    const node = await fleet.enrol(domainId)
    expect(await refusal(node, { lastEventId })).toBe('400 invalid_last_event_id')
    expect(fleet.metered.rejected.at(-1)).toBe('invalid_last_event_id')
  })

  it('reads two fields of that name as the one that they stand for', async () => {
    const node = await fleet.enrol(domainId)
    const stream = await follow(node, { lastEventId: '1\r\nLast-Event-ID: 2' })
    await expect.poll(stream.text, WAIT).toContain('invalid_last_event_id')
  })

  it.each(['9007199254740992', '9223372036854775808', '18446744073709551613'])(
    'says where it goes on when asked for %s, which is above everything',
    async (lastEventId) => {
      const node = await fleet.enrol(domainId)
      bus.add(node.node_id)
      const last = bus.add(node.node_id)
      bus.add('another node')
      const { head } = await bus.bounds(node.node_id)
      const stream = await following(node, { lastEventId })
      await expect.poll(() => framesOf(stream.text()).length, WAIT).toBe(1)
      bus.add(node.node_id)
      await expect.poll(() => framesOf(stream.text()).length, WAIT).toBe(2)
      const [resync, next] = framesOf(stream.text())
      expect(resync).toMatchObject({
        id: String(head),
        event: 'node_state_updated',
        data: { node_seq: Number(last.nodeSeq), payload: { reason: 'resync', blocks: [], peers: [] } },
      })
      expect(next?.data['node_seq']).toBe(3)
    },
  )

  it('says what is lost where the oldest event that is kept is later, and replays the rest', async () => {
    const node = await fleet.enrol(domainId)
    const [first] = Array.from({ length: 10 }, () => bus.add(node.node_id))
    bus.prune(node.node_id, 3)
    const { oldest } = await bus.bounds(node.node_id)
    const stream = await following(node, { lastEventId: String(first?.seq) })
    await expect.poll(() => seqsOf(stream), WAIT).toEqual([7, 8, 9, 10])
    const [resync] = framesOf(stream.text())
    expect(resync).toMatchObject({ id: String((oldest?.seq ?? 0n) - 1n), data: { payload: { reason: 'resync' } } })
  })

  it('signs what it says itself, with a key that is published', async () => {
    const node = await fleet.enrol(domainId)
    const stream = await following(node, { lastEventId: '9007199254740993' })
    await expect.poll(() => framesOf(stream.text()).length, WAIT).toBe(1)
    const text = /^data: (.*)$/m.exec(stream.text())?.[1] ?? ''
    const { signature, ...envelope } = JSON.parse(text)
    const canonical = text.replace(`,"signature":"${signature}"}`, '}')
    expect(Object.keys(envelope)).toEqual(Object.keys(envelope).toSorted())
    expect(envelope).toMatchObject({ api_version: 'v1', node_id: node.node_id, domain_id: domainId, node_seq: 0 })
    const { keys } = (await fleet.call(fleet.root, 'GET /v1/signing-keys')).body
    const key = (keys as { kid: string }[]).find(({ kid }) => kid === envelope.kid)
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', ...key }, format: 'jwk' })
    expect(verify(null, Buffer.from(canonical), publicKey, Buffer.from(signature, 'base64url'))).toBe(true)
  })

  it('goes only to the node itself and to who may see it', async () => {
    const [node, other] = [await fleet.enrol(domainId), await fleet.enrol(domainId)]
    const stranger = await fleet.principal(domainId)
    expect(await refusal(node, { as: other.nsk })).toBe('403 node_id_mismatch')
    expect(await refusal(node, { as: stranger })).toBe('403 permission_denied')
    expect(await refusal(node, { as: 'nsk_nonsense' })).toBe('401 unauthorized')
    await following(node, { as: fleet.root })
  })

  it('of a node that does not exist is refused by the gate, which grants nobody anything there', async () => {
    const unknown = { ...(await fleet.enrol(domainId)), node_id: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b' }
    for (const as of [await fleet.principal(domainId), fleet.root]) {
      expect(await refusal(unknown, { as })).toBe('403 permission_denied')
    }
  })

  it('is there four times for the node and four times for operators, and again when one ends', async () => {
    const node = await fleet.enrol(domainId)
    const own = [await following(node), await following(node), await following(node), await following(node)]
    expect(await refusal(node)).toBe('429 session_limit_exceeded')
    const fifth = await follow(node)
    await expect.poll(fifth.text, WAIT).toMatch(/retry-after: \d+/i)
    for (let operator = 0; operator < 4; operator++) await following(node, { as: fleet.root })
    expect(await refusal(node, { as: fleet.root })).toBe('429 session_limit_exceeded')
    own[0]?.destroy()
    await expect.poll(() => fleet.metered.ends.at(-1), WAIT).toBe('reader')
    await following(node)
    expect(await refusal(node)).toBe('429 session_limit_exceeded')
  })

  it('is refused at once while the bus is away, and goes on by itself where it was open', async () => {
    const node = await fleet.enrol(domainId)
    const stream = await following(node)
    bus.add(node.node_id)
    bus.setAway(true)
    expect(await refusal(node)).toBe('503 event_stream_unavailable')
    expect(await refusal(node, { lastEventId: '1' })).toBe('503 event_stream_unavailable')
    bus.hold()
    bus.add(node.node_id)
    bus.lose()
    bus.setAway(false)
    bus.add(node.node_id)
    await expect.poll(() => seqsOf(stream), WAIT).toEqual([1, 2, 3])
  })

  it('cuts a reader that never reads, and no other', async () => {
    const node = await fleet.enrol(domainId)
    const [stuck, good] = [await following(node), await following(node)]
    const before = fleet.metered.ends.length
    stuck.pause()
    const wire = JSON.stringify({ node_seq: 1, filler: 'x'.repeat(500_000) })
    for (let count = 0; fleet.metered.ends.length === before; count++) {
      expect(count).toBeLessThan(200)
      bus.add(node.node_id, wire)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    expect(fleet.metered.ends.slice(before)).toEqual(['slow'])
    expect(good.isOpen()).toBe(true)
  })

  it('replays to a slow reader as fast as it takes it, and does not cut it', async () => {
    const node = await fleet.enrol(domainId)
    const wire = JSON.stringify({ node_seq: 1, filler: 'x'.repeat(100_000) })
    for (let count = 0; count < 100; count++) bus.add(node.node_id, wire)
    const stream = await follow(node, { lastEventId: '0' })
    stream.pause()
    await expect.poll(() => fleet.metered.open, WAIT).toBeGreaterThan(0)
    stream.resume()
    await expect.poll(() => framesOf(stream.text()).length, WAIT).toBe(100)
    expect(stream.isOpen()).toBe(true)
  })

  it('is read by a stock EventSource, which comes back with the id that it saw last', async () => {
    const node = await fleet.enrol(domainId)
    const source = new EventSource(`${fleet.url}/v1/nodes/${node.node_id}/events`, {
      fetch: (url, init) => fetch(url, { ...init, headers: { ...init?.headers, Authorization: `Bearer ${node.nsk}` } }),
    })
    const seen: string[] = []
    source.addEventListener('node_state_updated', ({ data, lastEventId }) => {
      seen.push(`${lastEventId} ${JSON.parse(data).node_seq}`)
    })
    try {
      await expect.poll(() => source.readyState, WAIT).toBe(EventSource.OPEN)
      const first = bus.add(node.node_id)
      await expect.poll(() => seen, WAIT).toEqual([`${first.seq} 1`])
      bus.hold()
      const second = bus.add(node.node_id)
      bus.lose()
      await expect.poll(() => seen, WAIT).toEqual([`${first.seq} 1`, `${second.seq} 2`])
    } finally {
      source.close()
    }
  })

  it('is read by curl as it comes', async () => {
    const node = await fleet.enrol(domainId)
    for (let count = 0; count < 3; count++) bus.add(node.node_id)
    const url = `${fleet.url}/v1/nodes/${node.node_id}/events`
    const headers = ['-H', `Authorization: Bearer ${node.nsk}`, '-H', 'Last-Event-ID: 0']
    const ran = promisify(execFile)('curl', ['-sS', '-N', '--max-time', '2', ...headers, url])
    const text = await ran.then(
      ({ stdout }) => stdout,
      (error: { readonly stdout: string; readonly code: number }) => {
        expect(error.code, 'curl gives up after its time').toBe(28)
        return error.stdout
      },
    )
    expect(framesOf(text).map(({ data }) => data['node_seq'])).toEqual([1, 2, 3])
  })

  it('goes on while strangers flood the server, who open nothing', async () => {
    const node = await fleet.enrol(domainId)
    const stream = await following(node)
    const [before, rows] = [fleet.metered.open, fleet.audited.length]
    const line = `GET /v1/nodes/${node.node_id}/events`
    const strangers = await Promise.all(
      Array.from({ length: 300 }, async (_, index) => {
        const one = await openRawStream(fleet.port, `127.0.0.${1 + (index % 200)}`)
        one.send(requestBytes(line, index % 2 === 0 ? {} : { Authorization: 'Bearer nsk_nonsense' }))
        opened.push(one)
        return one
      }),
    )
    bus.add(node.node_id)
    await expect.poll(() => seqsOf(stream), WAIT).toEqual([1])
    for (const one of strangers) await expect.poll(one.text, WAIT).toMatch(/^HTTP\/1.1 401 /)
    expect(fleet.metered.open).toBe(before)
    // No address has more failures than have a row each (decisions: Audit).
    await expect.poll(() => fleet.audited.length, WAIT).toBe(rows + strangers.length)
  })
})

describe('the event streams of a node with short rounds', () => {
  beforeAll(() => begin(200))
  afterAll(() => fleet.stop())

  it('are kept alive', async () => {
    const stream = await following(await fleet.enrol(domainId))
    await expect.poll(() => stream.text().split(':keep-alive\n\n').length, WAIT).toBeGreaterThan(4)
  })

  it('end within a round of the revocation of the key', async () => {
    const node = await fleet.enrol(domainId)
    const [own, operator] = [await following(node), await following(node, { as: fleet.root })]
    await fleet.call(fleet.root, `POST /v1/nodes/${node.node_id}/nsk/revoke`)
    await own.closed()
    expect(own.text()).toMatch(/\r\n0\r\n\r\n$/)
    expect(fleet.metered.ends.at(-1)).toBe('refused')
    expect(operator.isOpen()).toBe(true)
  })

  it('end when the node is no more', async () => {
    const node = await fleet.enrol(domainId)
    const operator = await fleet.principal(domainId)
    await fleet.call(fleet.root, 'POST /v1/domains/' + domainId + '/grants', {
      subject: operator,
      relation: 'operator',
    })
    const own = await following(node)
    const answer = await fleet.call(fleet.root, `DELETE /v1/nodes/${node.node_id}`)
    expect(answer.status).toBeLessThan(300)
    await own.closed()
    expect(fleet.metered.ends.at(-1)).toBe('refused')
  })
})

/** Good readers from one address. */
const MANY = depth({ ci: 500, deep: 10_000 })

/** A real bus, and what it takes. */
interface RealBus {
  readonly name: string
  readonly missing: boolean
  readonly store: TestStore
  make(parts: { datastore: Datastore; clock: Clock }): EventBus
  /** Opens what the bus needs, before it is made. */
  prepare?(): Promise<void>
  end?(): Promise<void>
}

function eventLogOn(store: TestStore): RealBus {
  return {
    name: `the log of the ${store.name} store`,
    missing: store.missing,
    store,
    make: ({ datastore, clock }) => createEventLog({ datastore, clock, pollMs: 20, onFailure: () => undefined }),
  }
}

let nats: NatsServer | undefined

function jetStream(): RealBus {
  let made: EventBus | undefined
  return {
    name: 'JetStream',
    missing: requirement('nats-server') === undefined,
    store: EMBEDDED,
    async prepare() {
      nats = await startNatsServer()
      made = await openJetStreamBus({
        address: {
          servers: [nats.address],
          credentialsFile: undefined,
          security: { kind: 'plaintext', caPath: undefined },
        },
        settings: { env: 'streams', replicas: 1, bytesMax: undefined },
        clock: { now: () => Date.now() },
        warn: () => undefined,
      })
    },
    make() {
      if (made === undefined) throw new Error('the bus is not open')
      return made
    },
    async end() {
      await made?.close()
      await nats?.stop()
      nats = undefined
    },
  }
}

describe.each([...STORES.map(eventLogOn), jetStream()])('the event streams over $name', (real) => {
  describe.skipIf(real.missing)('', () => {
    let log: EventBus
    beforeAll(async () => {
      await real.prepare?.()
      fleet = await startStreamedFleet(real.store, (parts) => (log = real.make(parts)))
      domainId = await fleet.domain()
    })
    afterAll(async () => {
      await fleet.stop()
      await real.end?.()
    })

    const publish = (node: Enrolled, ...nodeSeqs: readonly number[]) =>
      log.publish(
        nodeSeqs.map((nodeSeq) => ({
          domainId,
          nodeId: node.node_id,
          nodeSeq: BigInt(nodeSeq),
          type: 'node_state_updated',
          eventId: `0190b000-0000-7000-8000-${String(nodeSeq).padStart(12, '0')}`,
          payload: '{}',
          wire: JSON.stringify({ node_seq: nodeSeq }),
        })),
      )

    it('have each event once and in order, over a reader that comes back', async () => {
      const node = await fleet.enrol(domainId)
      const first = await following(node)
      await publish(node, 1, 2, 3)
      await expect.poll(() => seqsOf(first), WAIT).toEqual([1, 2, 3])
      const lastEventId = framesOf(first.text())[1]?.id ?? ''
      first.destroy()
      await publish(node, 4, 5)
      const second = await following(node, { lastEventId })
      await publish(node, 6)
      await expect.poll(() => seqsOf(second), WAIT).toEqual([3, 4, 5, 6])
      const third = await following(node, { lastEventId: '0' })
      await expect.poll(() => seqsOf(third), WAIT).toEqual([1, 2, 3, 4, 5, 6])
      const fourth = await following(node, { lastEventId: '9007199254740993' })
      await publish(node, 7)
      await expect.poll(() => seqsOf(fourth), WAIT).toEqual([6, 7])
    })

    it('stay open while the bus is away, and go on without a gap', { timeout: 120_000 }, async ({ skip }) => {
      if (nats === undefined) skip('the log is away only where the datastore is')
      if (nats === undefined) return
      const node = await fleet.enrol(domainId)
      const stream = await following(node)
      await publish(node, 1)
      await expect.poll(() => seqsOf(stream), WAIT).toEqual([1])
      await nats.end('SIGKILL')
      await expect.poll(() => log.awaySinceMs(), WAIT).toBeDefined()
      expect(await refusal(node)).toBe('503 event_stream_unavailable')
      await nats.start()
      await expect
        .poll(
          () =>
            publish(node, 2, 3).then(
              () => true,
              () => false,
            ),
          WAIT,
        )
        .toBe(true)
      await expect.poll(() => seqsOf(stream), WAIT).toEqual([1, 2, 3])
      expect(stream.isOpen()).toBe(true)
    })

    it(`are there for ${MANY} readers at one address`, { timeout: 900_000 }, async () => {
      const nodes: Enrolled[] = []
      for (let count = 0; count < MANY / 4; count++) nodes.push(await fleet.enrol(domainId))
      // In a process of their own: each end of a connection takes a file of its process.
      const readers = await openReaders()
      const requests = nodes.flatMap(({ node_id: id, nsk }) =>
        Array.from({ length: 4 }, () => ({ path: `/v1/nodes/${id}/events`, authorization: `Bearer ${nsk}` })),
      )
      try {
        expect(await readers.ask('open', { port: fleet.port, requests, addresses: 1 })).toBe(MANY)
        expect(fleet.metered.open).toBeGreaterThanOrEqual(MANY)
        await readers.ask('expect')
        for (const node of nodes) await publish(node, 1)
        expect(await readers.ask('arrivals')).toHaveLength(MANY)
      } finally {
        await readers.ask('close')
      }
    })
  })
})

/** Readers of many streams, in a process of their own. */
async function openReaders() {
  const child = fork('test/bench/support/sse-readers.mjs', { serialization: 'advanced' })
  const answer = async (id: unknown): Promise<unknown> => {
    for (;;) {
      // The other side of this talk is in that file.
      const [[answered, value]] = (await once(child, 'message')) as [[unknown, unknown]]
      if (answered === id) return value
    }
  }
  await answer('ready')
  return {
    ask(question: string, argument?: object): Promise<unknown> {
      const answered = answer(question)
      child.send([question, question, argument])
      return question === 'close' ? once(child, 'exit') : answered
    },
  }
}

describe.runIf(depth({ ci: false, deep: true }))('an event stream for half an hour', () => {
  beforeAll(() => begin(25_000))
  afterAll(() => fleet.stop())

  it('is kept alive every 25 seconds and has what comes then', { timeout: 2_000_000 }, async () => {
    const node = await fleet.enrol(domainId)
    const stream = await following(node)
    await new Promise((resolve) => setTimeout(resolve, 1_800_000))
    bus.add(node.node_id)
    await expect.poll(() => seqsOf(stream), WAIT).toEqual([1])
    expect(stream.text().split(':keep-alive\n\n').length - 1).toBeGreaterThanOrEqual(72)
  })
})
