import type { Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { startEdge, type Edge } from '../../support/server/edge.ts'
import { PROJECT } from '../../support/server/fixture-callers.ts'
import { gate } from '../../support/run/gate.ts'
import { openRawSocket, requestBytes, type RawSocket } from '../../support/network/raw-socket.ts'

let server: Edge
afterEach(() => server.app.drain(100))

const OPEN = requestBytes('GET /v1/fixture/open')
const ADMIN = { Authorization: 'Bearer psk_admin', 'Content-Type': 'application/json' }

const THING = {
  id: '01935b5e-8f3a-7c61-9d0a-000000000041',
  project_id: PROJECT,
  slug: 'known',
  created_at: '2026-03-01T08:00:00.000Z',
}

/** A request that is within its handler, where it stays until it is let go. */
async function underWay(): Promise<{ readonly socket: RawSocket; readonly letGo: () => void }> {
  const reached = gate()
  const held = gate()
  server.fixture.things.push(THING)
  server.fixture.interrupt = async () => {
    reached.open()
    await held.passed
  }
  const socket = await openRawSocket(server.port)
  socket.send(requestBytes(`GET /v1/fixture/projects/${PROJECT}/things/known`, ADMIN))
  await reached.passed
  return { socket, letGo: held.open }
}

describe('a server that drains', () => {
  it('finishes the requests under way, and only then is done', async () => {
    server = await startEdge()
    const { socket, letGo } = await underWay()
    let isDone = false
    const drained = server.app.drain(10_000).then(() => (isDone = true))
    // Nothing listens any more: whatever waits behind this has had its turn.
    await expect(openRawSocket(server.port)).rejects.toThrow('ECONNREFUSED')
    expect(isDone).toBe(false)
    letGo()
    const [answer] = await socket.closed()
    await drained
    expect([answer?.status, JSON.parse(answer?.text ?? '').slug]).toEqual([200, 'known'])
  })

  it('refuses new connections', async () => {
    server = await startEdge()
    const { letGo } = await underWay()
    const drained = server.app.drain(10_000)
    await expect(openRawSocket(server.port)).rejects.toThrow('ECONNREFUSED')
    letGo()
    await drained
  })

  it('closes connections on which nothing is asked', async () => {
    server = await startEdge()
    const [idle, fresh] = [await openRawSocket(server.port), await openRawSocket(server.port)]
    idle.send(OPEN)
    await idle.answers(1)
    const { letGo } = await underWay()
    const drained = server.app.drain(10_000)
    expect((await idle.closed()).map(({ status }) => status)).toEqual([200])
    expect(await fresh.closed()).toEqual([])
    letGo()
    await drained
  })

  it('refuses what still arrives on a busy connection, says when to try again, and closes it', async () => {
    server = await startEdge()
    const heard = heardOn(server)
    const { letGo } = await underWay()
    const late = await openRawSocket(server.port)
    late.send(OPEN.slice(0, 20))
    await expect.poll(heard, { interval: 5 }).toBe(2)
    const drained = server.app.drain(10_000)
    late.send(OPEN.slice(20))
    const [answer] = await late.closed()
    letGo()
    await drained
    expect(answer?.status).toBe(503)
    expect(answer?.headers).toMatchObject({ connection: 'close', 'retry-after': '1' })
    expect(JSON.parse(answer?.text ?? '')).toMatchObject({ code: 'shutting_down' })
  })

  it('does not wait past its deadline: what still runs then loses its connection', async () => {
    server = await startEdge()
    const { socket, letGo } = await underWay()
    const startedAt = performance.now()
    await server.app.drain(200)
    expect(performance.now() - startedAt).toBeLessThan(5_000)
    expect(await socket.closed()).toEqual([])
    letGo()
  })

  it('does not wait past its deadline for a body that never comes', async () => {
    server = await startEdge()
    const heard = heardOn(server)
    const socket = await openRawSocket(server.port)
    socket.send(requestBytes('POST /v1/fixture/transfers', { ...ADMIN, 'Content-Length': '50' }))
    await expect.poll(heard, { interval: 5 }).toBe(1)
    await server.app.drain(200)
    expect((await socket.closed()).map(({ status }) => status)).not.toContain(200)
  })

  it('is done at once where nothing is under way', async () => {
    server = await startEdge()
    await server.app.drain(60_000)
    await expect(openRawSocket(server.port)).rejects.toThrow('ECONNREFUSED')
  })
})

/** Counts connections from which the server has read something. */
function heardOn({ app }: Edge): () => number {
  const sockets: Socket[] = []
  app.server.on('connection', (socket: Socket) => sockets.push(socket))
  return () => sockets.filter(({ bytesRead }) => bytesRead > 0).length
}
