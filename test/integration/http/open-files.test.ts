import { once } from 'node:events'
import { connect as connectTls } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import type { AppDeps } from '../../../src/server/http/app.ts'
import { startEdge, type Edge } from '../../support/server/edge.ts'
import { NODE } from '../../support/server/fixture-callers.ts'
import { openConnections } from '../../support/network/open-connections.ts'
import { openRawSocket, requestBytes, type RawSocket } from '../../support/network/raw-socket.ts'
import { openRawStream, type RawStream } from '../../support/network/raw-stream.ts'
import { selfSigned } from '../../support/network/self-signed.ts'

const WAIT = { interval: 5, timeout: 20_000 }
const TICKS = requestBytes(`GET /v1/fixture/nodes/${NODE}/ticks`, { Authorization: 'Bearer nsk_own' })
const CALL = requestBytes('GET /v1/fixture/open')
/** Of 200 files 100 are open and no connections, so that streams are refused from the 37th connection on, and the 81st is closed. */
const BOUNDS = { own: 20, others: 100, max: 200 }

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean()
})

async function start(tls?: AppDeps['tls']): Promise<{ readonly server: Edge; readonly reasons: string[] }> {
  const reasons: string[] = []
  const { own, others, max } = BOUNDS
  const state: { server: Edge | undefined } = { server: undefined }
  const count = async (): Promise<number> => {
    return others + (state.server === undefined ? 0 : await openConnections(state.server.app.server))
  }
  const server = await startEdge({
    fileBounds: { own, files: { max, count } },
    overload: { refused: (reason) => void reasons.push(reason) },
    // Connections that send nothing stay for the whole of a test.
    arrivalTimes: { headersTimeout: 300_000, requestTimeout: 300_000, connectionsCheckingInterval: 5_000 },
    tls,
  })
  state.server = server
  cleanups.push(() => server.app.drain(1_000))
  return { server, reasons }
}

async function connect(port: number, bytes = ''): Promise<RawSocket> {
  const socket = await openRawSocket(port)
  cleanups.push(() => socket.destroy())
  socket.send(bytes)
  return socket
}

async function streams(port: number, count: number): Promise<readonly RawStream[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const stream = await openRawStream(port)
      cleanups.push(() => stream.destroy())
      stream.send(TICKS)
      await expect.poll(stream.text, WAIT).toContain(':tick')
      return stream
    }),
  )
}

describe('where open files are scarce', () => {
  it('another stream is refused and its connection closed, open ones go on, and one that ends makes room', async () => {
    const { server, reasons } = await start()
    const [first, ...others] = await streams(server.port, 36)
    const refused = await connect(server.port, TICKS)
    const [answer] = await refused.closed()
    expect(answer).toMatchObject({ status: 503, headers: { connection: 'close' } })
    const { code, retry_after_seconds: inBody } = JSON.parse(answer?.text ?? '') as Record<string, unknown>
    expect([code, inBody]).toEqual(['overloaded', undefined])
    expect(Number(answer?.headers['retry-after'])).toBeGreaterThanOrEqual(15)
    expect(Number(answer?.headers['retry-after'])).toBeLessThan(60)
    expect(reasons).toEqual(['open_files'])
    expect(others.filter((stream) => !stream.isOpen())).toEqual([])
    first?.destroy()
    await expect.poll(() => openConnections(server.app.server), WAIT).toBe(35)
    await streams(server.port, 1)
    expect(reasons).toEqual(['open_files'])
  }, 180_000)

  it('calls are answered, and each closes its connection', async () => {
    const { server } = await start()
    const early = await connect(server.port, CALL)
    const [kept] = await early.answers(1)
    expect([kept?.status, kept?.headers['connection']]).toEqual([200, 'keep-alive'])
    await streams(server.port, 35)
    const calls = await Promise.all(Array.from({ length: 30 }, () => connect(server.port, CALL)))
    const answers = await Promise.all(calls.map((call) => call.closed()))
    expect(new Set(answers.map(([one]) => `${one?.status} ${one?.headers['connection']}`))).toEqual(
      new Set(['200 close']),
    )
  }, 180_000)

  it('connections beyond the last reserve are closed unanswered, idle ones make room, and streams go on', async () => {
    const { server, reasons } = await start()
    const idle = await connect(server.port, CALL)
    await idle.answers(1)
    const open = await streams(server.port, 35)
    // They send nothing, so that they do not count as idle.
    await Promise.all(Array.from({ length: 44 }, () => connect(server.port)))
    await expect.poll(() => openConnections(server.app.server), WAIT).toBe(80)
    const closed = await connect(server.port, CALL)
    expect(await closed.closed()).toEqual([])
    expect(reasons).toContain('accept')
    expect(await idle.closed()).toHaveLength(1)
    await expect.poll(() => openConnections(server.app.server), WAIT).toBe(79)
    const [served] = await (await connect(server.port, CALL)).closed()
    expect(served?.status).toBe(200)
    expect(open.filter((stream) => !stream.isOpen())).toEqual([])
  }, 180_000)

  it('connections under TLS count as others do, until they are closed', async () => {
    const { server } = await start(selfSigned())
    const sockets = Array.from({ length: 5 }, () => {
      const socket = connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false })
      cleanups.push(() => socket.destroy())
      return socket
    })
    await Promise.all(sockets.map((socket) => once(socket, 'secureConnect')))
    const open = (): number | undefined => server.app.load().files?.open
    await expect.poll(open, WAIT).toBe(BOUNDS.others + 5)
    for (const socket of sockets) socket.destroy()
    await expect.poll(open, WAIT).toBe(BOUNDS.others)
  }, 180_000)
})
