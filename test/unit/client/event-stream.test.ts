import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createCaller } from '../../../src/client/client.ts'
import {
  followStream,
  FRAME_CHARACTERS_MAX,
  type Cut,
  type FollowOptions,
  type Frame,
  type StreamListener,
} from '../../../src/client/event-stream.ts'
import { ProblemAnswer, TransportFailure } from '../../../src/client/failures.ts'
import { createTransport } from '../../../src/client/transport.ts'
import { manifest } from '../../support/cli/cli-run.ts'
import { startEventStub, type EventStub, type StubConnection } from '../../support/events/event-stub.ts'

const PATH = '/v1/nodes/019c1a10-0000-7000-8000-000000000001/events'

const frame = (id: number, data = `data ${id}`): string => `id: ${id}\nevent: node_state_updated\ndata: ${data}\n\n`

describe('A stream of events', () => {
  const closing: (() => unknown)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close()
  })

  async function stubbed(script: (connection: StubConnection) => void, at?: { path: string }): Promise<EventStub> {
    const stub = await startEventStub(script, at)
    closing.push(() => stub.close())
    return stub
  }

  interface Following {
    readonly frames: Frame[]
    readonly cuts: Cut[]
    readonly pauses: number[]
    readonly ended: Promise<void>
    stop(): void
  }

  function follow(
    stub: EventStub,
    more: Partial<FollowOptions> = {},
    listener: Partial<StreamListener> = {},
  ): Following {
    const transport = createTransport({ url: stub.url })
    const caller = createCaller({ manifest, transport, token: () => 'nsk_test' })
    const ending = new AbortController()
    closing.push(
      () => transport.close(),
      () => ending.abort(),
    )
    const [frames, cuts, pauses]: [Frame[], Cut[], number[]] = [[], [], []]
    const ended = followStream(
      {
        connect: (headers, signal) => caller.open({ method: 'GET', path: PATH, headers }, { signal }),
        signal: ending.signal,
        clock: {
          nowMs: () => 0,
          random: () => 0.5,
          sleep: async (ms) => void pauses.push(ms),
        },
        ...more,
      },
      {
        frame(one) {
          frames.push(one)
          return true
        },
        cut: (cut) => void cuts.push(cut),
        ...listener,
      },
    )
    ended.catch(() => undefined) // Whoever awaits it hears of it.
    return { frames, cuts, pauses, ended, stop: () => ending.abort() }
  }

  const idsOf = ({ frames }: Following): readonly (string | undefined)[] => frames.map(({ id }) => id)

  it('passes on frames however they are split into chunks, and ignores comments', async () => {
    const text = `: hello\n\n${frame(1, 'é🚀')}:keep-alive\n\nid: 2\ndata: a\ndata: b\n\n`
    const stub = await stubbed((connection) => {
      connection.send('')
      for (const character of text) connection.send(character)
    })
    const following = follow(stub)
    await vi.waitFor(() => expect(following.frames).toHaveLength(2))
    expect(following.frames).toEqual([
      { id: '1', event: 'node_state_updated', data: 'é🚀' },
      { id: '2', event: 'message', data: 'a\nb' },
    ])
  })

  it('sends the credential and the accepted type, and starts with the next event', async () => {
    const stub = await stubbed(({ send }) => send(frame(5)))
    const following = follow(stub)
    await vi.waitFor(() => expect(idsOf(following)).toEqual(['5']))
    expect(stub.connections[0]?.headers).toMatchObject({
      accept: 'text/event-stream',
      authorization: 'Bearer nsk_test',
    })
    expect(stub.connections[0]?.lastEventId).toBeUndefined()
  })

  it('resumes after the last accepted frame, not after a rejected one', async () => {
    const stub = await stubbed(({ number, send, end }) => {
      send(frame(number * 10) + frame(number * 10 + 1))
      if (number < 3) end()
    })
    const following = follow(stub, { lastEventId: '7' }, { frame: ({ id }) => id?.endsWith('0') === true })
    await vi.waitFor(() => expect(stub.connections).toHaveLength(3))
    expect(stub.connections.map(({ lastEventId }) => lastEventId)).toEqual(['7', '10', '20'])
    expect(following.cuts.map(({ reason }) => reason)).toEqual(['ended', 'ended'])
  })

  it('drops and reports a truncated frame, and requests it again', async () => {
    const stub = await stubbed(({ number, send, hangUp, end }) => {
      if (number === 1) {
        send(frame(1) + frame(2).slice(0, -1))
        end()
      } else if (number === 2) {
        send(`${frame(2)}id: 3\nda`)
        setImmediate(hangUp)
      } else send(frame(3))
    })
    const following = follow(stub)
    await vi.waitFor(() => expect(idsOf(following)).toEqual(['1', '2', '3']))
    expect(following.cuts.map(({ reason }) => reason)).toEqual(['truncated', 'truncated'])
    expect(stub.connections.map(({ lastEventId }) => lastEventId)).toEqual([undefined, '1', '2'])
  })

  it.each([
    ['one line', `id: 2\ndata: ${'x'.repeat(FRAME_CHARACTERS_MAX + 1)}\n\n`],
    ['many lines', `id: 2\n${`data: ${'x'.repeat(9999)}\n`.repeat(110)}\n`],
    ['a line without an end', `data: ${'x'.repeat(FRAME_CHARACTERS_MAX + 1)}`],
  ])('refuses a frame over 1 MiB in %s, closes the connection and reports it', async (_name, text) => {
    const stub = await stubbed(({ number, send }) => send(number === 1 ? frame(1) + text : frame(3)))
    const following = follow(stub)
    await vi.waitFor(() => expect(idsOf(following)).toEqual(['1', '3']))
    expect(following.cuts.map(({ reason }) => reason)).toEqual(['frame_too_large'])
    expect(stub.connections[1]?.lastEventId).toBe('1')
    await vi.waitFor(() => expect(stub.open()).toBe(1))
  })

  it('accepts a frame of exactly 1 MiB', async () => {
    const data = 'x'.repeat(FRAME_CHARACTERS_MAX - 1000)
    const following = follow(await stubbed(({ send }) => send(frame(1, data))))
    await vi.waitFor(() => expect(following.frames[0]?.data).toBe(data))
  })

  it('closes a connection without a keep-alive', async () => {
    const stub = await stubbed(({ number, send }) => send(frame(number)))
    const following = follow(stub, { silenceMsMax: 40 })
    await vi.waitFor(() => expect(idsOf(following).slice(0, 2)).toEqual(['1', '2']))
    expect(following.cuts[0]?.reason).toBe('silent')
    following.stop()
    await following.ended
  })

  it('keeps a connection with only comments, and one with a slow listener', async () => {
    const stub = await stubbed(({ send }) => {
      send(frame(1))
      const timer = setInterval(() => send(':keep-alive\n\n'), 20)
      closing.push(() => clearInterval(timer))
    })
    let taken = 0
    const following = follow(
      stub,
      { silenceMsMax: 150 },
      {
        async frame() {
          await new Promise((resolve) => setTimeout(resolve, 400))
          taken += 1
          return true
        },
      },
    )
    await vi.waitFor(() => expect(taken).toBe(1), 2000)
    expect(following.cuts).toEqual([])
  })

  it('waits as long as retry: requests, plus full jitter that grows until a connection is good', async () => {
    const stub = await stubbed(({ number, send, end }) => {
      send(number === 1 ? `retry: 5000\n\n${frame(1)}` : ':\n\n')
      if (number < 6) end()
    })
    const following = follow(stub)
    await vi.waitFor(() => expect(stub.connections).toHaveLength(6))
    expect(following.pauses).toEqual([5500, 5500, 6000, 7000, 9000])
  })

  it.each([429, 503, 500, 502, 504, 408])('retries after %d, not before Retry-After', async (status) => {
    const stub = await stubbed(({ number, send, refuse }) => {
      if (number === 1) refuse(status, { code: 'not_now', status }, { 'retry-after': '7' })
      else send(frame(1))
    })
    const following = follow(stub)
    await vi.waitFor(() => expect(idsOf(following)).toEqual(['1']))
    expect(following.cuts).toMatchObject([{ reason: 'refused', cause: { status, code: 'not_now' }, pauseMs: 7500 }])
  })

  it.each([
    [400, 'invalid_last_event_id'],
    [401, 'nsk_revoked'],
    [403, 'node_id_mismatch'],
    [404, 'node_not_found'],
    [501, 'signed_event_bus_not_provisioned'],
  ])('throws the problem of %d', async (status, code) => {
    const stub = await stubbed(({ refuse }) => refuse(status, { code, status, detail: 'No.' }))
    const { ended } = follow(stub)
    await expect(ended).rejects.toThrow(ProblemAnswer)
    await expect(ended).rejects.toMatchObject({ status, code, message: 'No.' })
    expect(stub.connections).toHaveLength(1)
  })

  it.each([
    ['another media type', 200],
    ['no content', 204],
    ['a redirect', 302],
  ])('fails if the answer is %s', async (_name, status) => {
    const stub = await stubbed(({ refuse }) => refuse(status, {}, { location: '/elsewhere' }))
    await expect(follow(stub).ended).rejects.toMatchObject({ fault: 'unreadable' })
    expect(stub.connections).toHaveLength(1)
  })

  it('stops after the maximum number of tries without a connection, but never after the first one opened', async () => {
    const stub = await stubbed(({ send, end }) => {
      send(frame(1))
      end()
    })
    const following = follow(stub, { triesMax: 2 })
    await vi.waitFor(() => expect(stub.connections.length).toBeGreaterThan(3))
    await stub.close()
    await vi.waitFor(() => expect(following.cuts.at(-1)?.reason).toBe('unreachable'))
    await expect(follow(stub, { triesMax: 2 }).ended).rejects.toMatchObject({ fault: 'unreachable' })
  })

  it('requests a frame again that the listener could not verify', async () => {
    const stub = await stubbed(({ number, send }) => send(frame(number === 1 ? 1 : 2)))
    let asked = 0
    const following = follow(
      stub,
      { lastEventId: '0' },
      {
        async frame() {
          asked += 1
          if (asked === 1) throw new TransportFailure('timeout', 'no keys')
          return true
        },
      },
    )
    await vi.waitFor(() => expect(asked).toBe(2))
    expect(following.cuts.map(({ reason }) => reason)).toEqual(['undecided'])
    expect(stub.connections.map(({ lastEventId }) => lastEventId)).toEqual(['0', '0'])
  })

  it('throws the error of its listener and closes the connection', async () => {
    const stub = await stubbed(({ send }) => send(frame(1)))
    const bug = new Error('a fault of the listener')
    const following = follow(stub, {}, { frame: () => Promise.reject(bug) })
    await expect(following.ended).rejects.toBe(bug)
    await vi.waitFor(() => expect(stub.open()).toBe(0))
  })

  it('resolves when its signal is aborted: while open, connecting or waiting', async () => {
    const open = await stubbed(({ send }) => send(frame(1)))
    const whileOpen = follow(open)
    await vi.waitFor(() => expect(whileOpen.frames).toHaveLength(1))
    const silent = await stubbed(() => undefined)
    const whileConnecting = follow(silent)
    await vi.waitFor(() => expect(silent.connections).toHaveLength(1))
    const refusing = await stubbed(({ refuse }) => refuse(503, {}))
    const whileWaiting = follow(refusing, { clock: undefined })
    // It tries again after a while, and may have done so when this looks.
    await vi.waitFor(() => expect(whileWaiting.cuts).not.toHaveLength(0))
    for (const one of [whileOpen, whileConnecting, whileWaiting]) {
      one.stop()
      await one.ended
    }
    await vi.waitFor(() => expect(open.open() + silent.open()).toBe(0))
  })

  it('reads nothing more while the listener handles a frame', async () => {
    const stub = await stubbed(({ send }) => {
      for (let id = 1; id <= 2000; id += 1) send(frame(id, 'x'.repeat(20_000)))
    })
    let looking: (() => void) | undefined
    const following = follow(stub, {}, { frame: () => new Promise((resolve) => (looking = () => resolve(true))) })
    let waiting = Infinity
    await vi.waitFor(() => {
      const before = waiting
      waiting = stub.connections[0]?.waiting() ?? Infinity
      expect([looking !== undefined, waiting]).toEqual([true, before])
    }, 10_000)
    expect(waiting).toBeGreaterThan(20_000_000)
    following.stop()
    looking?.()
    await following.ended
  })

  it('works over unix sockets', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'ctl-stream-'))
    closing.push(() => rmSync(directory, { recursive: true }))
    const stub = await stubbed(({ send }) => send(frame(1)), { path: join(directory, 'socket') })
    const following = follow(stub)
    await vi.waitFor(() => expect(idsOf(following)).toEqual(['1']))
  })
})
