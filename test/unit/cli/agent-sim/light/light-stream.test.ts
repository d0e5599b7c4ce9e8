import { connect } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createNodeStreams } from '../../../../../src/client/agent/events/node-streams.ts'
import { createCaller } from '../../../../../src/client/client.ts'
import { createTransport } from '../../../../../src/client/transport.ts'
import { createFrameReader } from '../../../../../src/cli/agent-sim/light/frame-reader.ts'
import { createLightDomains } from '../../../../../src/cli/agent-sim/light/light-domains.ts'
import { lightNode } from '../../../../../src/cli/agent-sim/light/light-node.ts'
import { LightStream } from '../../../../../src/cli/agent-sim/light/light-stream.ts'
import { DEFAULT_HABITS } from '../../../../../src/cli/agent-sim/plan.ts'
import { createStatistics } from '../../../../../src/cli/agent-sim/statistics.ts'
import { manifest } from '../../../../support/cli/cli-run.ts'
import { startEventStub, type StubConnection } from '../../../../support/events/event-stub.ts'
import { NODE_ID } from '../../../../support/events/event-vectors.ts'

const WAIT = { interval: 5, timeout: 10_000 }
const OVERLOADED = { code: 'overloaded', status: 503, title: 'Overloaded', detail: 'Later.' }

describe('the stream of a light agent', () => {
  const cleanups: (() => unknown)[] = []
  afterEach(async () => {
    for (const clean of cleanups.splice(0).toReversed()) await clean()
  })

  /** A stream from a server that plays the script. Its pauses are kept, and end when they are ended. */
  async function streamOf(script: (connection: StubConnection) => void) {
    const stub = await startEventStub(script)
    const statistics = createStatistics()
    const pauses: { readonly ms: number; readonly end: () => void }[] = []
    const transport = createTransport({ url: stub.url })
    const identity = { node_id: NODE_ID, name: 'n', nsk: 'nsk_n', private_key: '' }
    const domain = createLightDomains(statistics).of('d')
    const stream = new LightStream(
      {
        clock: { now: Date.now, random: () => 0.5, pause: async () => undefined },
        statistics,
        streams: createNodeStreams(createCaller({ manifest, transport, triesMax: 1 }), manifest),
        wheel: { after: (ms, end) => void pauses.push({ ms, end }), run: async () => undefined },
        isOutage: () => false,
        async request() {
          const socket = connect({ host: '127.0.0.1', port: Number(new URL(stub.url).port) })
          socket.write(`GET /v1/nodes/${NODE_ID}/events HTTP/1.1\r\nhost: a\r\n\r\n`)
          return socket
        },
        readFrames: createFrameReader(),
        onEvent: () => undefined,
        onEnded: () => undefined,
      },
      lightNode(identity, { place: 0, domain, binaries: DEFAULT_HABITS.binaries }),
    )
    cleanups.push(
      () => stub.close(),
      () => transport.close(),
      () => stream.stop(),
    )
    return { stream, stub, pauses, counts: () => statistics.summary().counts }
  }

  it('has had its first try when it is refused, and is requested again after Retry-After and a random pause', async () => {
    const { stream, stub, pauses, counts } = await streamOf(({ number, refuse, send }) => {
      if (number === 1) refuse(503, OVERLOADED, { 'retry-after': '15' })
      else send(': welcome\n\n')
    })
    await stream.firstTry
    expect(stream.isOpen()).toBe(false)
    expect(counts()).toMatchObject({ streams: 0, retries: 1, errors: 0 })
    expect(pauses.map(({ ms }) => ms)).toEqual([15_500])
    expect(stub.connections).toHaveLength(1)
    pauses[0]?.end()
    await vi.waitFor(() => expect(stream.isOpen()).toBe(true), WAIT)
    expect(counts()).toMatchObject({ streams: 1, errors: 0 })
  })

  it('has had its first try when its connection is closed unanswered', async () => {
    const { stream, pauses, counts } = await streamOf(({ hangUp }) => hangUp())
    await stream.firstTry
    expect([stream.isOpen(), pauses.length]).toEqual([false, 1])
    expect(counts()['streams']).toBe(0)
  })

  it('has had its first try when it is stopped before', async () => {
    const { stream } = await streamOf(() => undefined)
    await stream.stop()
    await stream.firstTry
    expect(stream.isOpen()).toBe(false)
  })
})
