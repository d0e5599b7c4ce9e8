import { connect as connectTls } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { startEdge, type Edge } from '../../support/server/edge.ts'
import { NODE, PROJECT } from '../../support/server/fixture-callers.ts'
import type { Ticking } from '../../support/server/fixture-handlers.ts'
import { gate } from '../../support/run/gate.ts'
import { openConnections } from '../../support/network/open-connections.ts'
import { requestBytes } from '../../support/network/raw-socket.ts'
import { openRawStream, type RawStream } from '../../support/network/raw-stream.ts'
import { selfSigned } from '../../support/network/self-signed.ts'

let server: Edge
const streams: RawStream[] = []
afterEach(async () => {
  for (const stream of streams.splice(0)) stream.destroy()
  await server.app.drain(1_000)
})

const WAIT = { interval: 5, timeout: 10_000 }
const TICKS = requestBytes(`GET /v1/fixture/nodes/${NODE}/ticks`, { Authorization: 'Bearer nsk_own' })

async function open(bytes = TICKS): Promise<RawStream> {
  const stream = await openRawStream(server.port)
  streams.push(stream)
  stream.send(bytes)
  return stream
}

/** A stream whose first tick has come. */
async function ticking(): Promise<{ readonly stream: RawStream; readonly ticks: Ticking }> {
  const stream = await open()
  await expect.poll(stream.text, WAIT).toContain(':tick')
  const ticks = server.fixture.ticking.at(-1)
  if (ticks === undefined) throw new Error('nothing streams')
  return { stream, ticks }
}

const mebibytes = (count: number): Buffer => Buffer.alloc(count * 1024 * 1024, 'x')

describe('an answer that goes on', () => {
  it('has its head and first bytes at once, in chunks, and is audited as soon', async () => {
    server = await startEdge()
    const { stream } = await ticking()
    const [head = '', body] = stream.text().split('\r\n\r\n')
    expect(head.split('\r\n')[0]).toBe('HTTP/1.1 200 OK')
    expect(head.toLowerCase()).toContain('\r\ncontent-type: text/event-stream\r\n')
    expect(body).toBe('7\r\n:tick\n\n\r\n')
    expect(server.audited.map(({ relation, outcome }) => [relation, outcome])).toEqual([['fixture.ticks', 'granted']])
  })

  it('has no chunks for a client of HTTP/1.0, and ends with the connection', async () => {
    server = await startEdge()
    const stream = await open(TICKS.replace('HTTP/1.1', 'HTTP/1.0'))
    await expect.poll(stream.text, WAIT).toMatch(/\r\n\r\n:tick\n\n$/)
    expect(stream.text().toLowerCase()).not.toContain('transfer-encoding')
    server.fixture.ticking[0]?.sink?.end()
    await stream.closed()
  })

  it('is ended once by its reader', async () => {
    server = await startEdge()
    const { stream, ticks } = await ticking()
    stream.destroy()
    await expect.poll(() => ticks.ends, WAIT).toEqual(['reader'])
    expect(ticks.sink?.write(Buffer.from('x'))).toBe(false)
    ticks.sink?.end()
    expect(ticks.ends).toEqual(['reader'])
  })

  it('is ended once by a reader that closes its half', async () => {
    server = await startEdge()
    const { stream, ticks } = await ticking()
    stream.endHalf()
    await stream.closed()
    await expect.poll(() => ticks.ends, WAIT).toEqual(['reader'])
  })

  it('is ended once by its operation, in order', async () => {
    server = await startEdge()
    const { stream, ticks } = await ticking()
    ticks.sink?.write(Buffer.from('last'))
    ticks.sink?.end()
    ticks.sink?.end()
    await stream.closed()
    expect(stream.text()).toMatch(/\r\n4\r\nlast\r\n0\r\n\r\n$/)
    expect(ticks.ends).toEqual(['operation'])
  })

  it('is cut where its reader leaves more than a mebibyte untaken', async () => {
    server = await startEdge()
    const { stream, ticks } = await ticking()
    stream.pause()
    let written = 0
    while (ticks.sink?.write(mebibytes(1)) === true) {
      written += 1
      expect(written).toBeLessThan(100)
      // The system's own buffers fill first.
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(ticks.ends).toEqual(['slow'])
    stream.resume()
    await stream.closed()
  })

  it('tells how much is untaken, and when it was taken', async () => {
    server = await startEdge()
    const { stream, ticks } = await ticking()
    stream.pause()
    const { sink } = ticks
    if (sink === undefined) throw new Error('nothing streams')
    while (sink.unsent() === 0) sink.write(Buffer.alloc(256 * 1024))
    let isDrained = false
    const drained = sink.drained().then(() => (isDrained = true))
    await new Promise((resolve) => setImmediate(resolve))
    expect(isDrained).toBe(false)
    stream.resume()
    await drained
    expect(sink.unsent()).toBe(0)
  })

  it('does not answer garbage that its reader sends, and ends', async () => {
    server = await startEdge()
    const { stream, ticks } = await ticking()
    stream.send('\u0000garbage\r\n\r\n')
    await stream.closed()
    expect(stream.text()).not.toContain('HTTP/1.1 400')
    expect(ticks.ends).toEqual(['reader'])
  })

  it('waits for the answers before it on its connection', async () => {
    server = await startEdge()
    const reached = gate()
    const held = gate()
    server.fixture.interrupt = async () => {
      reached.open()
      await held.passed
    }
    server.fixture.things.push({ id: NODE, project_id: PROJECT, slug: 'known', created_at: '2026-03-01T08:00:00.000Z' })
    const path = `/v1/fixture/projects/${PROJECT}/things/known`
    const stream = await open(requestBytes(`GET ${path}`, { Authorization: 'Bearer psk_admin' }) + TICKS)
    await reached.passed
    await expect.poll(() => server.fixture.ticking.length, WAIT).toBe(1)
    expect(stream.text()).toBe('')
    expect(server.fixture.ticking[0]?.sink).toBeUndefined()
    held.open()
    await expect.poll(stream.text, WAIT).toMatch(/"slug":"known"[^]*HTTP\/1.1 200 OK\r\n[^]*:tick/)
  })

  it('never begins where its reader has left before', async () => {
    server = await startEdge()
    const reached = gate()
    const held = gate()
    server.fixture.interrupt = async () => {
      reached.open()
      await held.passed
    }
    const stream = await open()
    await reached.passed
    stream.destroy()
    await expect.poll(() => openConnections(server.app.server), WAIT).toBe(0)
    held.open()
    await expect.poll(() => server.fixture.ticking[0]?.ends, WAIT).toEqual(['reader'])
    expect(server.fixture.ticking[0]?.sink).toBeUndefined()
  })

  it('says farewell and ends in order where the server stops, which waits for nobody', async () => {
    server = await startEdge()
    const open2 = [await ticking(), await ticking()]
    const startedAt = performance.now()
    await server.app.drain(60_000)
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    for (const { stream, ticks } of open2) {
      await stream.closed()
      expect(stream.text()).toMatch(/retry: 1000\n\n\r\n0\r\n\r\n$/)
      expect(ticks.ends).toEqual(['drain'])
    }
  })

  it('is refused where the server has begun to stop', async () => {
    server = await startEdge()
    const reached = gate()
    const held = gate()
    server.fixture.interrupt = async () => {
      reached.open()
      await held.passed
    }
    const stream = await open()
    await reached.passed
    const drained = server.app.drain(60_000)
    held.open()
    await drained
    await stream.closed()
    expect(stream.text()).toContain('"code":"shutting_down"')
    expect(server.fixture.ticking[0]).toMatchObject({ sink: undefined, ends: ['drain'] })
  })

  it('is the same over TLS', async () => {
    server = await startEdge({ tls: selfSigned() })
    const socket = connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false })
    let text = ''
    socket.setEncoding('utf8').on('data', (more: string) => (text += more))
    socket.write(TICKS)
    await expect.poll(() => text, WAIT).toMatch(/\r\n\r\n7\r\n:tick\n\n\r\n$/)
    const frame = Buffer.alloc(300_000, '%')
    server.fixture.ticking[0]?.sink?.write(frame)
    await expect.poll(() => text.split('%').length - 1, WAIT).toBe(frame.length)
    await server.app.drain(10_000)
    await expect
      .poll(() => text.replace(/%+/, '...'), WAIT)
      .toMatch(/\r\n493e0\r\n\.\.\.\r\n[^]*retry: 1000\n\n\r\n0\r\n\r\n$/)
    socket.destroy()
  })

  it('can ask again whether its caller may', async () => {
    let isAllowed = true
    server = await startEdge({
      authorizer: {
        kind: 'embedded',
        check: () => (isAllowed ? { allowed: true, path: [] } : { allowed: false, reason: 'insufficient_relation' }),
        pathOf: () => [],
        domainOf: () => null,
        hasRelation: () => true,
      },
    })
    const stream = await open(TICKS.replace('nsk_own', 'psk_admin'))
    await expect.poll(stream.text, WAIT).toContain(':tick')
    const reauthorization = server.fixture.ticking[0]?.reauthorization
    expect(() => reauthorization?.confirm()).not.toThrow()
    isAllowed = false
    expect(() => reauthorization?.confirm()).toThrow('insufficient_relation')
  })
})
