import { createServer, type Socket } from 'node:net'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { createLightTransport, type CallConnections } from '../../../../../src/cli/agent-sim/light/light-transport.ts'
import { createWire } from '../../../../../src/cli/agent-sim/light/wire.ts'

const closers: (() => void)[] = []
afterEach(() => closers.splice(0).forEach((close) => close()))

/** A server that passes each request to `answer`, with the number of its connection. */
async function serve(answer: (socket: Socket, request: string, connection: number) => void) {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    const connection = connections
    socket.on('data', (bytes) => answer(socket, bytes.toString(), connection)).on('error', () => undefined)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return (calls: CallConnections) => {
    const transport = createLightTransport(createWire({ url: `http://127.0.0.1:${port}/base/`, trust: {} }), calls)
    closers.push(() => transport.close())
    return transport
  }
}

const sized = (body: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\netag: "x"\r\n\r\n${body}`

const get = (token: string, timeoutMs = 10_000) => ({
  method: 'GET',
  path: '/v1/x',
  headers: { authorization: `Bearer ${token}` },
  timeoutMs,
})

test('own connections: each credential has one, which carries its calls one after the other', async () => {
  const connect = await serve((socket, _, connection) => socket.write(sized(String(connection))))
  const transport = connect('own')
  const calls = ['a', 'b', 'a', 'b', 'a'].map((token) => transport.exchange(get(token)))
  const bodies = (await Promise.all(calls)).map(({ body }) => body.toString())
  expect(bodies[0]).not.toBe(bodies[1])
  expect(bodies).toEqual([bodies[0], bodies[1], bodies[0], bodies[1], bodies[0]])
})

test('shared connections: there are at most as many as were asked for', async () => {
  const connect = await serve((socket, _, connection) => socket.write(sized(String(connection))))
  const transport = connect(2)
  const answers = await Promise.all(Array.from({ length: 9 }, (_, index) => transport.exchange(get(String(index)))))
  expect(new Set(answers.map(({ body }) => body.toString())).size).toBe(2)
})

test('a request has the path of the base URL, a host and the length of its body', async () => {
  let seen = ''
  const connect = await serve((socket, request) => {
    seen = request
    socket.write(sized(''))
  })
  await connect(1).exchange({ method: 'POST', path: '/v1/x', headers: { a: 'b' }, body: '{"a":"é"}' })
  expect(seen).toMatch(
    /^POST \/base\/v1\/x HTTP\/1\.1\r\nhost: 127\.0\.0\.1:\d+\r\na: b\r\ncontent-length: 10\r\n\r\n\{"a":"é"\}$/,
  )
})

test('the body of a drained answer is counted and dropped, that of a refusal is kept', async () => {
  const refusal = 'HTTP/1.1 409 Conflict\r\ncontent-length: 2\r\n\r\n{}'
  const connect = await serve((socket, request) => socket.write(request.includes('good') ? sized('12345') : refusal))
  const transport = connect(1)
  const good = await transport.drain(get('good'))
  expect([good.status, good.bytes, good.body.length, good.headers['etag']]).toEqual([200, 5, 0, '"x"'])
  expect((await transport.drain(get('bad'))).body.toString()).toBe('{}')
})

test.each([
  ['broken', (socket: Socket) => socket.destroy()],
  ['unreadable', (socket: Socket) => socket.write('SSH-2.0\r\n\r\n')],
  ['timeout', () => undefined],
] as const)('a call ends with the fault %s, and the next one has another connection', async (fault, act) => {
  const connect = await serve((socket, _, connection) => (connection === 1 ? act(socket) : socket.write(sized('ok'))))
  const transport = connect(1)
  await expect(transport.exchange(get('a', fault === 'timeout' ? 300 : 10_000))).rejects.toMatchObject({ fault })
  expect((await transport.exchange(get('a'))).body.toString()).toBe('ok')
})

test('a call that has waited for a connection as long as for an answer is not sent', async () => {
  let asked = 0
  const connect = await serve((socket) => {
    asked += 1
    setTimeout(() => socket.write(sized('slow')), 200)
  })
  const transport = connect(1)
  // The short ones wait for at least 200 ms, however slow the machine is.
  const calls = [10_000, 50, 50, 10_000].map((timeoutMs) => transport.exchange(get('a', timeoutMs)))
  const outcomes = await Promise.allSettled(calls)
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
  for (const outcome of outcomes.slice(1, 3)) expect(outcome).toMatchObject({ reason: { fault: 'timeout' } })
  expect(asked).toBe(2)
})

test('a server that is not there is unreachable', async () => {
  const transport = createLightTransport(createWire({ url: 'unix:/nonexistent/ctl.sock', trust: {} }), 1)
  await expect(transport.exchange(get('a'))).rejects.toMatchObject({ fault: 'unreachable' })
})
