import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { sendRendered } from '../../../src/server/http/send-rendered.ts'
import { startEdge, type Edge } from '../../support/server/edge.ts'
import { NODE } from '../../support/server/fixture-callers.ts'
import { gate } from '../../support/run/gate.ts'
import { openConnections } from '../../support/network/open-connections.ts'
import { openRawSocket, requestBytes, sendRaw } from '../../support/network/raw-socket.ts'
import { openRawStream } from '../../support/network/raw-stream.ts'
import { selfSigned } from '../../support/network/self-signed.ts'

const WAIT = { interval: 5, timeout: 10_000 }
const LINE = `GET /v1/fixture/nodes/${NODE}/rendered`
const OWN = { Authorization: 'Bearer nsk_own' }
const REQUEST = requestBytes(LINE, OWN)
const DOCUMENT = '{"parts":["one","two"]}'

describe('an answer that is there as bytes', () => {
  let server: Edge
  afterEach(() => server.app.drain(1_000))

  it('is sent as JSON of a known length, with the headers of every answer and those of its own', async () => {
    server = await startEdge()
    const { status, headers, text } = await sendRaw(server.port, REQUEST)
    expect([status, text]).toEqual([200, DOCUMENT])
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(DOCUMENT.length),
      etag: '"rendered"',
      'x-service-api-version': 'current=v1, latest=v1',
    })
    expect(headers['x-correlation-id']).toMatch(/^[0-9a-f-]{36}$/)
    expect(headers).not.toHaveProperty('transfer-encoding')
  })

  it('has no body where the handler chooses 304', async () => {
    server = await startEdge()
    const socket = await openRawSocket(server.port)
    socket.send(requestBytes(LINE, { ...OWN, 'If-None-Match': '"rendered"' }))
    socket.send(REQUEST)
    const [unchanged, next] = await socket.answers(2)
    expect([unchanged?.status, unchanged?.text, unchanged?.headers['etag']]).toEqual([304, '', '"rendered"'])
    expect(next?.text).toBe(DOCUMENT)
    socket.destroy()
  })

  it('leaves its connection for the next request, whatever order they were sent in', async () => {
    server = await startEdge()
    const socket = await openRawSocket(server.port)
    const held = gate()
    server.fixture.interrupt = () => held.passed
    socket.send(REQUEST + REQUEST + requestBytes('GET /v1/fixture/open') + REQUEST)
    held.open()
    const answers = await socket.answers(4)
    expect(answers.map(({ text }) => text)).toEqual([DOCUMENT, DOCUMENT, '{"has_caller":false}', DOCUMENT])
    socket.destroy()
  })

  it('is left out of an answer to HEAD, and its length is not', async () => {
    server = await startEdge()
    const url = `http://127.0.0.1:${server.port}${LINE.replace('GET ', '')}`
    const head = await fetch(url, { method: 'HEAD', headers: OWN })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect(head.headers.get('content-length')).toBe(String(DOCUMENT.length))
    expect(await (await fetch(url, { headers: OWN })).text()).toBe(DOCUMENT)
  })

  it('is given to requests without a connection', async () => {
    server = await startEdge()
    const url = LINE.replace('GET ', '')
    const answer = await server.app.fastify.inject({ url, headers: { authorization: 'Bearer nsk_own' } })
    expect([answer.statusCode, answer.payload]).toEqual([200, DOCUMENT])
  })

  it('is observed once, and audited where the contract says so', async () => {
    const observed: unknown[] = []
    server = await startEdge({ observe: (id, status) => observed.push([id, status]) })
    await sendRaw(server.port, REQUEST)
    expect(observed).toEqual([['GetRenderedThing', 200]])
    expect(server.audited).toEqual([])
  })

  it('is audited, whatever the contract says, where it is one of before', async () => {
    server = await startEdge()
    server.fixture.interrupt = (ctx) => ctx.degraded(Date.parse('2026-03-01T07:59:00.000Z'), 'datastore')
    const { headers } = await sendRaw(server.port, REQUEST)
    expect(headers['x-service-degraded']).toBe('datastore; since=2026-03-01T07:59:00.000Z')
    expect(server.audited.map(({ relation, outcome, reason }) => [relation, outcome, reason])).toEqual([
      ['fixture.rendered', 'granted', 'stale_cache'],
    ])
  })

  it('is the last one of its connection while the server stops, and is sent whole', async () => {
    server = await startEdge()
    const [reached, held] = [gate(), gate()]
    server.fixture.parts = [JSON.stringify('x'.repeat(8_000_000))]
    server.fixture.interrupt = async () => {
      reached.open()
      await held.passed
    }
    const socket = await openRawSocket(server.port)
    socket.send(REQUEST)
    await reached.passed
    const drained = server.app.drain(10_000)
    held.open()
    const [answer] = await socket.closed()
    await drained
    expect([answer?.headers['connection'], answer?.text.length]).toEqual(['close', 8_000_014])
  })

  it('may lose its reader, and the next one is answered', async () => {
    server = await startEdge()
    server.fixture.parts = [JSON.stringify('x'.repeat(8_000_000))]
    const stream = await openRawStream(server.port)
    stream.send(REQUEST)
    stream.pause()
    await expect.poll(() => openConnections(server.app.server), WAIT).toBe(1)
    stream.destroy()
    await expect.poll(() => openConnections(server.app.server), WAIT).toBe(0)
    server.fixture.parts = []
    expect((await sendRaw(server.port, REQUEST)).text).toBe('{"parts":[]}')
  })

  it('arrives over TLS, with those behind it', async () => {
    server = await startEdge({ tls: selfSigned() })
    server.fixture.parts = ['"', 'x'.repeat(3_000_000), '","', 'y'.repeat(300_000), '"']
    const socket = connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false })
    let text = ''
    socket.setEncoding('latin1').on('data', (more: string) => (text += more))
    socket.write(REQUEST + requestBytes('GET /v1/fixture/open'))
    await expect.poll(() => text.endsWith('{"has_caller":false}'), WAIT).toBe(true)
    expect(text.split('x').length - 1).toBeGreaterThanOrEqual(3_000_000)
    expect(text).toContain(`${'y'.repeat(300_000)}"]}HTTP/1.1 200 OK`)
    socket.destroy()
  })
})

describe('pieces that are sent', () => {
  const pieces = [Buffer.from('head '), Buffer.alloc(64 * 1024 * 1024, 'x'), Buffer.from(' tail')]
  const servers: Server[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) server.close()
  })

  async function serve(stalledMs: number, tls?: ReturnType<typeof selfSigned>) {
    const server = tls === undefined ? createServer() : createTlsServer(tls)
    servers.push(server)
    server.on('request', (request, response) => {
      const { socket } = request
      sendRendered({ response, socket, status: 200, headers: {} }, { pieces }, stalledMs)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    // A server that listens on a port says which.
    return { server, port: (server.address() as AddressInfo).port }
  }

  it('wait for a reader that is slow, as long as it reads', async () => {
    const { port } = await serve(400)
    const stream = await openRawStream(port)
    stream.send(requestBytes('GET /'))
    for (let pause = 0; pause < 6; pause++) {
      stream.pause()
      await new Promise((resolve) => setTimeout(resolve, 100))
      stream.resume()
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await expect.poll(() => stream.text().endsWith(' tail'), WAIT).toBe(true)
    stream.destroy()
  })

  it('are given up where their reader takes nothing any more', async () => {
    const { server, port } = await serve(200)
    const stream = await openRawStream(port)
    stream.pause()
    stream.send(requestBytes('GET /'))
    await expect.poll(() => openConnections(server), WAIT).toBe(1)
    await expect.poll(() => openConnections(server), WAIT).toBe(0)
    stream.destroy()
  })

  it('are not encrypted far ahead of their reader', async () => {
    const { server, port } = await serve(60_000, selfSigned())
    const answers: { readonly writableLength: number }[] = []
    server.on('request', (_request, response) => answers.push(response))
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
    socket.pause()
    socket.write(requestBytes('GET /'))
    await expect.poll(() => answers[0]?.writableLength, WAIT).toBeGreaterThan(0)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(answers[0]?.writableLength).toBeLessThan(1024 * 1024)
    socket.destroy()
  })
})
