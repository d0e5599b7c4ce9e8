import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFixture, type FixtureServer } from '../../support/server/fixture-server.ts'
import { openRawSocket, requestBytes, type RawAnswer } from '../../support/network/raw-socket.ts'

let server: FixtureServer
beforeAll(async () => {
  const arrivalTimes = { headersTimeout: 150, requestTimeout: 300, connectionsCheckingInterval: 25 }
  server = await startFixture({ arrivalTimes })
})
afterAll(() => server.stop())

const OPEN = requestBytes('GET /v1/fixture/open')
const TRANSFERS = 'POST /v1/fixture/transfers'
const ADMIN = { Authorization: 'Bearer psk_admin', 'Content-Type': 'application/json' }
const TRANSFER = '{"project_id":"01935b5e-8f3a-7c61-9d0a-000000000011","reason":"because"}'

/** Sends the bytes and waits until the server has closed the connection. */
async function untilClosed(bytes: string | Uint8Array): Promise<readonly RawAnswer[]> {
  const socket = await openRawSocket(server.port)
  socket.send(bytes)
  return socket.closed()
}

function expectDocument(answer: RawAnswer | undefined, status: number, code: string): void {
  expect(answer?.status, answer?.text).toBe(status)
  expect(answer?.headers['content-type']).toBe('application/problem+json')
  expect(answer?.headers['x-service-api-version']).toBe('current=v1, latest=v1')
  expect(JSON.parse(answer?.text ?? '')).toMatchObject({
    status,
    code,
    correlation_id: answer?.headers['x-correlation-id'],
  })
}

describe('bytes that are no HTTP request get a problem document, and the connection is closed', () => {
  it.each([
    ['a greeting of another protocol', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
    ['a TLS client hello', Buffer.from('16030100a5010000a10303', 'hex')],
    ['a method that does not exist', 'MAKE /v1/fixture/open HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['another version', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n'],
    ['a header without a name', 'GET / HTTP/1.1\r\n: x\r\n\r\n'],
    ['a control character in a header', 'GET / HTTP/1.1\r\nHost: x\r\nX-A: a\u0001b\r\n\r\n'],
    ['a folded header', 'GET / HTTP/1.1\r\nHost: x\r\nX-A: a\r\n b\r\n\r\n'],
    ['a blank before the colon', 'GET / HTTP/1.1\r\nHost : x\r\n\r\n'],
    ['a length that is no number', requestBytes(TRANSFERS, { ...ADMIN, 'Content-Length': 'many' })],
    ['a negative length', requestBytes(TRANSFERS, { ...ADMIN, 'Content-Length': '-1' })],
    ['a chunk without a size', requestBytes(TRANSFERS, { ...ADMIN, 'Transfer-Encoding': 'chunked' }, 'zz\r\n{}\r\n')],
  ])('%s', async (_, bytes) => {
    const answers = await untilClosed(bytes)
    expectDocument(answers[0], 400, 'invalid_request')
    expect(answers[0]?.headers['connection']).toBe('close')
    expect(answers).toHaveLength(1)
  })

  it('but nothing where the peer is gone already', async () => {
    const socket = await openRawSocket(server.port)
    socket.send('GET / HT')
    socket.destroy()
    expect((await untilClosed('x\r\n\r\n'))[0]?.status).toBe(400)
  })
})

describe('lengths that contradict each other never let a second request through', () => {
  const smuggled = 'GET /v1/fixture/open HTTP/1.1\r\nHost: x\r\n\r\n'
  it.each([
    ['a length and chunks', 'Content-Length: 4\r\nTransfer-Encoding: chunked', `0\r\n\r\n${smuggled}`],
    ['chunks and a length', 'Transfer-Encoding: chunked\r\nContent-Length: 4', `0\r\n\r\n${smuggled}`],
    ['two lengths', `Content-Length: 0\r\nContent-Length: ${smuggled.length}`, smuggled],
    ['the same length twice', 'Content-Length: 2\r\nContent-Length: 2', `{}${smuggled}`],
    ['an encoding after chunks', 'Transfer-Encoding: chunked, identity', `0\r\n\r\n${smuggled}`],
    ['an encoding that is none', 'Transfer-Encoding: xchunked', `0\r\n\r\n${smuggled}`],
  ])('%s', async (_, lengths, rest) => {
    const head = `${TRANSFERS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer psk_admin\r\nContent-Type: application/json`
    const answers = await untilClosed(`${head}\r\n${lengths}\r\n\r\n${rest}`)
    expectDocument(answers[0], 400, 'invalid_request')
    expect(answers).toHaveLength(1)
  })
})

describe('a head that can be read in two ways is refused once, and the connection is closed', () => {
  const open = 'GET /v1/fixture/open HTTP/1.1'
  it.each([
    ['two hosts', `${open}\r\nHost: a\r\nHost: a\r\n\r\n`],
    ['two hosts, each in its own case', `${open}\r\nHOST: a\r\nhost: b\r\n\r\n`],
    ['two credentials', `${open}\r\nHost: a\r\nAuthorization: Bearer psk_admin\r\nauthorization: Basic x\r\n\r\n`],
    ['an encoding that is none', `${open}\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n`],
    ['no encoding', `${open}\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n`],
    ['compressed chunks', `${open}\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ['chunks twice', `${open}\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`],
  ])('%s', async (_, bytes) => {
    const answers = await untilClosed(`${bytes}${OPEN}`)
    expectDocument(answers[0], 400, 'invalid_request')
    expect(answers[0]?.headers['connection']).toBe('close')
    expect(answers).toHaveLength(1)
  })

  it('while chunks in capitals are taken', async () => {
    const socket = await openRawSocket(server.port)
    socket.send(
      requestBytes(
        TRANSFERS,
        { ...ADMIN, 'Transfer-Encoding': 'Chunked' },
        `${TRANSFER.length.toString(16)}\r\n${TRANSFER}\r\n0\r\n\r\n`,
      ),
    )
    expect((await socket.answers(1))[0]?.status).toBe(200)
    socket.destroy()
  })
})

describe('headers', () => {
  it('over 16 KiB are refused with 431', async () => {
    const answers = await untilClosed(requestBytes('GET /v1/fixture/open', { 'X-Filler': 'x'.repeat(17 * 1024) }))
    expectDocument(answers[0], 431, 'headers_too_large')
  })

  it('over 16 KiB in many small ones are refused with 431', async () => {
    const many = Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`X-${index}`, 'xxxxxxxx']))
    expectDocument((await untilClosed(requestBytes('GET /v1/fixture/open', many)))[0], 431, 'headers_too_large')
  })

  it('just below it are taken', async () => {
    const socket = await openRawSocket(server.port)
    socket.send(requestBytes('GET /v1/fixture/open', { 'X-Filler': 'x'.repeat(15 * 1024) }))
    expect((await socket.answers(1))[0]?.status).toBe(200)
    socket.destroy()
  })

  it('without Host are refused in HTTP/1.1 and taken in HTTP/1.0', async () => {
    const socket = await openRawSocket(server.port)
    socket.send('GET /v1/fixture/open HTTP/1.1\r\n\r\n')
    expectDocument((await socket.answers(1))[0], 400, 'invalid_request')
    socket.destroy()
    expect((await untilClosed('GET /v1/fixture/open HTTP/1.0\r\n\r\n'))[0]?.status).toBe(200)
  })
})

describe('a request that does not arrive in time is answered with 408, and the connection is closed', () => {
  it('its headers trickle', async () => {
    const socket = await openRawSocket(server.port)
    socket.send('GET /v1/fixture/open HTTP/1.1\r\nHost: x\r\n')
    const trickle = setInterval(() => socket.send('X-A: a\r\n'), 20)
    const answers = await socket.closed()
    clearInterval(trickle)
    expectDocument(answers[0], 408, 'request_timeout')
  })

  it.each([
    ['with an announced length', { 'Content-Length': '1000' }, ' '],
    ['in chunks', { 'Transfer-Encoding': 'chunked' }, '1\r\n \r\n'],
  ])('its body trickles %s', async (_, lengths, piece) => {
    const socket = await openRawSocket(server.port)
    socket.send(requestBytes(TRANSFERS, { ...ADMIN, ...lengths }))
    const trickle = setInterval(() => socket.send(piece), 20)
    const answers = await socket.closed()
    clearInterval(trickle)
    expectDocument(answers[0], 408, 'request_timeout')
  })

  it('it says nothing at all', async () => {
    const socket = await openRawSocket(server.port)
    expectDocument((await socket.closed())[0], 408, 'request_timeout')
  })

  it('which is 15 s for headers and 30 s for the whole where nothing else is said', async () => {
    const plain = await startFixture()
    expect([plain.app.server.headersTimeout, plain.app.server.requestTimeout]).toEqual([15_000, 30_000])
    await plain.stop()
  })
})

describe('requests on one connection', () => {
  it('are answered in the order in which they were sent, whatever each takes', async () => {
    const socket = await openRawSocket(server.port)
    const length = { 'Content-Length': String(TRANSFER.length) }
    const slow = requestBytes(TRANSFERS, { ...ADMIN, ...length, Authorization: 'Bearer psk_admin_slow' }, TRANSFER)
    const unknown = requestBytes('GET /v1/nothing')
    socket.send(slow + OPEN + unknown + OPEN)
    expect((await socket.answers(4)).map(({ status }) => status)).toEqual([200, 200, 401, 200])
    socket.destroy()
  })

  it('before garbage are answered whole, and then the connection is closed', async () => {
    const [first, ...more] = await untilClosed(`${OPEN}garbage\r\n\r\n`)
    expect([first?.status, first?.text]).toEqual([200, '{"has_caller":false}'])
    expect(more.filter(({ status }) => status < 400)).toEqual([])
  })

  it('that were answered do not keep garbage after them from its answer', async () => {
    const socket = await openRawSocket(server.port)
    socket.send(OPEN)
    await socket.answers(1)
    socket.send('garbage\r\n\r\n')
    expectDocument((await socket.closed())[1], 400, 'invalid_request')
  })

  it('go on after a refusal whose body was read', async () => {
    const socket = await openRawSocket(server.port)
    const refused = requestBytes(TRANSFERS, { ...ADMIN, 'Content-Length': '1' }, '{')
    socket.send(refused + OPEN)
    expect((await socket.answers(2)).map(({ status }) => status)).toEqual([400, 200])
    socket.destroy()
  })

  it('do not go on within the body of one that was refused before it was read', async () => {
    const socket = await openRawSocket(server.port)
    socket.send(requestBytes(TRANSFERS, { ...ADMIN, Authorization: 'Bearer psk_x', 'Content-Length': '999' }, OPEN))
    const answers = await socket.closed()
    expect(answers.map(({ status }) => status)).not.toContain(200)
    expect(answers[0]?.status).toBe(401)
  })
})

it('a tunnel is not offered', async () => {
  expectDocument(
    (await untilClosed('CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n'))[0],
    405,
    'method_not_allowed',
  )
})

it('an expectation that is not known is ignored, and the usual one is met', async () => {
  const socket = await openRawSocket(server.port)
  socket.send(requestBytes('GET /v1/fixture/open', { Expect: 'something' }))
  expect((await socket.answers(1))[0]?.status).toBe(200)
  socket.send(requestBytes(TRANSFERS, { ...ADMIN, Expect: '100-continue', 'Content-Length': String(TRANSFER.length) }))
  expect((await socket.answers(2))[1]?.status).toBe(100)
  socket.send(TRANSFER)
  expect((await socket.answers(3))[2]?.status).toBe(200)
  socket.destroy()
})

it('an upgrade that is not offered is ignored', async () => {
  const socket = await openRawSocket(server.port)
  socket.send(requestBytes('GET /v1/fixture/open', { Connection: 'Upgrade', Upgrade: 'websocket' }))
  expect((await socket.answers(1))[0]?.status).toBe(200)
  socket.destroy()
})
