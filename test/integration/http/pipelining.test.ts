import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { capConnections } from '../../../src/server/http/limits/connection-cap.ts'
import { startEdge, type Edge } from '../../support/server/edge.ts'
import { fixtureResolvers } from '../../support/server/fixture-callers.ts'
import { gate, type Gate } from '../../support/run/gate.ts'
import { openRawSocket, requestBytes, type RawSocket } from '../../support/network/raw-socket.ts'

const WAIT = { interval: 5, timeout: 10_000 }

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean()
})

interface Capped {
  readonly socket: RawSocket
  /** What is being served, oldest first. */
  readonly served: { readonly request: IncomingMessage; readonly response: ServerResponse }[]
  /** Paths of all that Node has parsed. */
  readonly parsed: string[]
  readonly refused: string[]
  /** Whether the gate was told to trust it, each time. */
  readonly trusted: boolean[]
}

/** A connection to a server that answers when the test does. */
async function connect(): Promise<Capped> {
  const [served, parsed, refused, trusted]: [Capped['served'], string[], string[], boolean[]] = [[], [], [], []]
  const capped = capConnections({
    serve: (request, response) => void served.push({ request, response }),
    gate: { trust: () => void trusted.push(true), distrust: () => void trusted.push(false) },
    refuse(socket, request) {
      refused.push(request.url ?? '')
      socket.destroy()
    },
  })
  const listener: RequestListener = (request, response) => {
    parsed.push(request.url ?? '')
    capped(request, response)
  }
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = await openRawSocket((server.address() as AddressInfo).port)
  cleanups.push(
    () => server.close(),
    () => socket.destroy(),
  )
  return { socket, served, parsed, refused, trusted }
}

/** So many requests, in one piece. */
const requests = (count: number, from = 0): string =>
  Array.from({ length: count }, (_, index) => requestBytes(`GET /${from + index}`)).join('')

const paths = ({ served }: Capped): readonly (string | undefined)[] => served.map(({ request }) => request.url)

describe('of one connection', () => {
  it('16 requests are served at once, and each answer lets the next of the same read in', async () => {
    const capped = await connect()
    capped.socket.send(requests(20))
    await expect.poll(() => capped.parsed.length, WAIT).toBe(20)
    expect(paths(capped)).toEqual(Array.from({ length: 16 }, (_, index) => `/${index}`))
    capped.served[0]?.response.end('first')
    await expect.poll(() => paths(capped).at(-1), WAIT).toBe('/16')
    expect((await capped.socket.answers(1))[0]?.text).toBe('first')
  })

  it('an answer makes it trusted, and the first request that has to wait ends that for good', async () => {
    const capped = await connect()
    capped.socket.send(requests(16))
    await expect.poll(() => capped.served.length, WAIT).toBe(16)
    for (const { response } of capped.served) response.end()
    await expect.poll(() => capped.trusted, WAIT).toEqual([true])
    capped.socket.send(requests(17, 16))
    await expect.poll(() => capped.served.length, WAIT).toBe(32)
    for (const { response } of capped.served.slice(16)) response.end()
    await expect.poll(() => capped.served.length, WAIT).toBe(33)
    expect(capped.trusted).toEqual([true, false])
  })

  it('an answer that is ready before its turn still counts', async () => {
    const capped = await connect()
    capped.socket.send(requests(17))
    await expect.poll(() => capped.served.length, WAIT).toBe(16)
    for (const { response } of capped.served.slice(1)) response.end()
    await new Promise((resolve) => setImmediate(resolve))
    expect(capped.served).toHaveLength(16)
    capped.served[0]?.response.end()
    await expect.poll(() => capped.served.length, WAIT).toBe(17)
    expect(await capped.socket.answers(16)).toHaveLength(16)
  })

  it('nothing more is read while 16 are served, and it goes on afterwards', async () => {
    const capped = await connect()
    capped.socket.send(requests(16))
    await expect.poll(() => capped.served.length, WAIT).toBe(16)
    const socket = capped.served[0]?.request.socket
    await expect.poll(() => socket?.isPaused(), WAIT).toBe(true)
    capped.socket.send(requests(500, 16))
    const other = await connect()
    other.socket.send(requests(1))
    await expect.poll(() => other.parsed.length, WAIT).toBe(1)
    expect([capped.parsed.length, capped.refused]).toEqual([16, []])
    capped.served[0]?.response.end()
    await expect.poll(() => capped.served.length, WAIT).toBe(17)
  })

  it('every request is answered in order where more come than are served at once', async () => {
    const capped = await connect()
    const listener = setInterval(() => {
      for (const { request, response } of capped.served) if (!response.writableEnded) response.end(request.url)
    }, 1)
    cleanups.push(() => clearInterval(listener))
    for (let from = 0; from < 400; from += 40) {
      capped.socket.send(requests(40, from))
      await capped.socket.answers(from + 40)
    }
    const answers = await capped.socket.answers(400)
    expect(answers.map(({ text }) => text)).toEqual(Array.from({ length: 400 }, (_, index) => `/${index}`))
  })

  it('the body of the last one that is served is read to its end', async () => {
    const capped = await connect()
    const body = 'x'.repeat(1024 * 1024)
    const posted = requestBytes('POST /body', { 'Content-Length': String(body.length) })
    capped.socket.send(requests(15) + posted)
    await expect.poll(() => capped.served.length, WAIT).toBe(16)
    let received = 0
    capped.served[15]?.request.on('data', (bytes: Buffer) => (received += bytes.length))
    capped.socket.send(body + requests(3, 16))
    await expect.poll(() => received, WAIT).toBe(body.length)
    for (const { response } of capped.served) response.end()
    await expect.poll(() => capped.served.length, WAIT).toBe(19)
  })

  it('64 wait behind them, and one more is refused with all that wait', async () => {
    const capped = await connect()
    capped.socket.send(requests(80))
    await expect.poll(() => capped.parsed.length, WAIT).toBe(80)
    expect(capped.refused).toEqual([])
    const other = await connect()
    other.socket.send(requests(200))
    await expect.poll(() => other.refused, WAIT).toEqual(['/80'])
    await other.socket.closed()
    expect(other.served).toHaveLength(16)
  })
})

describe('a connection that sends too many requests at once', () => {
  let edge: Edge
  let asked: number
  let held: Gate

  async function start(options: Parameters<typeof startEdge>[0] = {}): Promise<void> {
    asked = 0
    held = gate()
    edge = await startEdge({ resolvers: [holding()], ...options })
    cleanups.push(() => {
      held.open()
      return edge.app.drain(1_000)
    })
  }

  /** Resolves tokens once the test lets it. */
  function holding(): (typeof fixtureResolvers)[number] {
    const [tokens] = fixtureResolvers
    if (tokens === undefined) throw new Error('the fixture has resolvers')
    return {
      kind: tokens.kind,
      recognizes: tokens.recognizes,
      async resolve(text) {
        asked += 1
        await held.passed
        return tokens.resolve(text)
      },
    }
  }

  const READ = requestBytes('GET /v1/fixture/own-things', { Authorization: 'Bearer psk_admin' })

  it('is answered 503 and closed, at once', async () => {
    const refusals: string[] = []
    await start({ overload: { refused: (reason) => refusals.push(reason) } })
    const socket = await openRawSocket(edge.port)
    socket.send(READ.repeat(200))
    const [answer, ...more] = await socket.closed()
    expect(answer?.status).toBe(503)
    expect(answer?.headers).toMatchObject({
      'retry-after': '1',
      connection: 'close',
      'content-type': 'application/problem+json',
    })
    expect(JSON.parse(answer?.text ?? '')).toMatchObject({
      code: 'overloaded',
      correlation_id: answer?.headers['x-correlation-id'],
    })
    expect([more, asked, refusals]).toEqual([[], 16, ['connection']])
  })

  it('that is over the bound of all is refused at once, and let in afterwards', async () => {
    await start({ requestsMax: 70 })
    const sockets = await Promise.all(Array.from({ length: 6 }, () => openRawSocket(edge.port)))
    cleanups.push(() => sockets.forEach((socket) => socket.destroy()))
    for (const socket of sockets.slice(0, 4)) socket.send(READ.repeat(16))
    sockets[4]?.send(READ.repeat(6))
    await expect.poll(() => edge.app.load().running, WAIT).toBe(70)
    const [late] = sockets.slice(5)
    late?.send(READ)
    const [refused] = (await late?.answers(1)) ?? []
    expect([refused?.status, refused?.headers['retry-after']]).toEqual([503, '1'])
    expect(JSON.parse(refused?.text ?? '')).toMatchObject({ code: 'overloaded' })
    held.open()
    await expect.poll(() => edge.app.load().running, WAIT).toBe(0)
    late?.send(READ)
    expect((await late?.answers(2))?.[1]?.status).toBe(200)
  })

  it('is refused while the event loop is late and much is under way, not while it is little', async () => {
    let isLate = false
    await start({ lag: { isLate: () => isLate, seconds: () => 0, stop: () => undefined } })
    const sockets = await Promise.all(Array.from({ length: 5 }, () => openRawSocket(edge.port)))
    cleanups.push(() => sockets.forEach((socket) => socket.destroy()))
    for (const socket of sockets.slice(0, 4)) socket.send(READ.repeat(16))
    await expect.poll(() => edge.app.load().running, WAIT).toBe(64)
    isLate = true
    sockets[4]?.send(READ)
    expect((await sockets[4]?.answers(1))?.[0]?.status).toBe(503)
    held.open()
    expect((await sockets[0]?.answers(16))?.[0]?.status).toBe(200)
    sockets[4]?.send(READ)
    expect((await sockets[4]?.answers(2))?.[1]?.status).toBe(200)
  })
})
