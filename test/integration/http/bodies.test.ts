import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PROJECT } from '../../support/server/fixture-callers.ts'
import { startFixture, type FixtureServer } from '../../support/server/fixture-server.ts'
import { openRawSocket, requestBytes, sendRaw, type RawAnswer } from '../../support/network/raw-socket.ts'

let server: FixtureServer
beforeAll(async () => {
  server = await startFixture()
})
afterAll(() => server.stop())

const JSON_TYPE = { 'Content-Type': 'application/json' }
const ADMIN = { Authorization: 'Bearer psk_admin', ...JSON_TYPE }
const THINGS = `POST /v1/fixture/projects/${PROJECT}/things`

/** Posts a body to the operation that makes things. */
async function post(body: string, headers: Readonly<Record<string, string>> = {}): Promise<RawAnswer> {
  const length = { 'Content-Length': String(Buffer.byteLength(body)) }
  return sendRaw(server.port, requestBytes(THINGS, { ...ADMIN, ...length, ...headers }, body))
}

function problemOf({ status, text }: RawAnswer): unknown {
  return [status, JSON.parse(text).code]
}

describe('a body over its cap of 2 KiB is refused with 413 before it is decoded', () => {
  it('as soon as its length is announced, with not a byte of it sent', async () => {
    const socket = await openRawSocket(server.port)
    socket.send(requestBytes(THINGS, { ...ADMIN, 'Content-Length': '2049' }))
    const [answer] = await socket.answers(1)
    expect(answer && problemOf(answer)).toEqual([413, 'request_body_too_large'])
    socket.destroy()
  })

  it('as soon as the chunks exceed it, with no end of them sent', async () => {
    const socket = await openRawSocket(server.port)
    socket.send(requestBytes(THINGS, { ...ADMIN, 'Transfer-Encoding': 'chunked' }))
    for (let sent = 0; sent < 2049; sent += 683) socket.send(`2ab\r\n${'{'.repeat(683)}\r\n`)
    const [answer] = await socket.answers(1)
    expect(answer && problemOf(answer)).toEqual([413, 'request_body_too_large'])
    socket.destroy()
  })

  it('though it is no JSON', async () => {
    expect(problemOf(await post('{'.repeat(2049)))).toEqual([413, 'request_body_too_large'])
  })

  it('but a caller without a credential is told that first', async () => {
    const answer = await post('{'.repeat(4000), { Authorization: 'Bearer psk_x' })
    expect(problemOf(answer)).toEqual([401, 'unauthenticated'])
  })

  it('and so is one whom the gate refuses', async () => {
    const answer = await post('{'.repeat(4000), { Authorization: 'Bearer psk_nobody' })
    expect(problemOf(answer)).toEqual([403, 'permission_denied'])
  })
})

it('a compressed body is not unpacked, so that none grows past its cap', async () => {
  const packed = gzipSync('{"slug":"packed"}')
  const length = { 'Content-Encoding': 'gzip', 'Content-Length': String(packed.length) }
  const head = Buffer.from(requestBytes(THINGS, { ...ADMIN, ...length }))
  expect(problemOf(await sendRaw(server.port, Buffer.concat([head, packed])))).toEqual([400, 'invalid_body'])
})

describe('what cannot be stored is refused with 400 wherever it stands', () => {
  const within = (text: string): readonly (readonly [string, string])[] => [
    ['a value', `{"slug":"a","notes":{"a":"${text}"}}`],
    ['a key', `{"slug":"a","notes":{"${text}":1}}`],
    ['a key of an object in a list', `{"slug":"a","notes":{"a":[[{"${text}":1}]]}}`],
    ['the member that is parsed', `{"slug":"${text}"}`],
  ]
  const rows = [
    ...within('\\u0000').map(([where, body]) => ['U+0000', where, body] as const),
    ...within('\\ud800').map(([where, body]) => ['a lone high surrogate', where, body] as const),
    ...within('\\udfff').map(([where, body]) => ['a lone low surrogate', where, body] as const),
    ...within('\\udc00\\ud800').map(([where, body]) => ['surrogates in the wrong order', where, body] as const),
    ...within('__proto__')
      .slice(1, 3)
      .map(([where, body]) => ['__proto__', where, body] as const),
    ...within('\\u005f_proto__')
      .slice(1, 3)
      .map(([where, body]) => ['__proto__ in escapes', where, body] as const),
  ]
  it.each(rows)('%s in %s', async (_what, _where, body) => {
    const answer = await post(body)
    expect(answer.status, answer.text).toBe(400)
    expect(['invalid_body', 'invalid_checksum']).toContain(JSON.parse(answer.text).code)
  })

  it('an unescaped U+0000, or bytes that are no UTF-8', async () => {
    expect(problemOf(await post('{"slug":"a","notes":{"a":"\u0000"}}'))).toEqual([400, 'invalid_body'])
    const head = Buffer.from(requestBytes(THINGS, { ...ADMIN, 'Content-Length': '12' }))
    const lone = Buffer.concat([head, Buffer.from('{"slug":"'), Buffer.from([0xff]), Buffer.from('"}')])
    expect(problemOf(await sendRaw(server.port, lone))).toEqual([400, 'invalid_body'])
  })

  it('but a pair of surrogates is a character', async () => {
    expect((await post('{"slug":"paired","notes":{"\\ud83d\\ude00":"\\ud83d\\ude00"}}')).status).toBe(201)
  })
})

it('of a repeated key the last value counts', async () => {
  const answer = await post('{"slug":"first","slug":"last"}')
  expect([answer.status, JSON.parse(answer.text).slug]).toEqual([201, 'last'])
  expect((await post('{"slug":"fine","slug":1}')).status).toBe(400)
})

describe('broken percent-encoding', () => {
  const get = (path: string) => sendRaw(server.port, requestBytes(`GET ${path}`, ADMIN))
  it.each(['%', '%2', '%zz', '%ff', '%c0%80', '%ed%a0%80'])('%s in the path is invalid_path', async (broken) => {
    expect(problemOf(await get(`/v1/fixture/projects/${PROJECT}/things/${broken}`))).toEqual([400, 'invalid_path'])
  })
  it.each(['kind=%', 'kind=%zz', '%ff=a', 'kind=%ed%a0%80'])('%s in the query is invalid_query', async (broken) => {
    expect(problemOf(await get(`/v1/fixture/things?${broken}`))).toEqual([400, 'invalid_query'])
  })
  it('at a path that nothing has is invalid_path as well', async () => {
    expect(problemOf(await get('/%zz'))).toEqual([400, 'invalid_path'])
  })
  it.each(['%00', 'a%00b'])('%s is well encoded and still cannot be stored', async (unstorable) => {
    expect(problemOf(await get(`/v1/fixture/projects/${PROJECT}/things/${unstorable}`))).toEqual([400, 'invalid_path'])
  })
  it.each([2_000, 15_000])('a member of %d characters is what the operation says of it', async (length) => {
    const answer = await get(`/v1/fixture/projects/${PROJECT}/things/${'x'.repeat(length)}`)
    expect(problemOf(answer)).toEqual([400, 'invalid_path'])
  })
})

describe('the correlation id', () => {
  const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
  const ask = (headers: Readonly<Record<string, string>>, path = '/v1/fixture/old') =>
    sendRaw(server.port, requestBytes(`GET ${path}`, headers))

  it.each(['a', 'A.b:c_d-9', 'x'.repeat(128)])('%s is taken and told in header and document', async (id) => {
    const answer = await ask({ 'X-Correlation-Id': id })
    expect(answer.headers['x-correlation-id']).toBe(id)
    expect(JSON.parse(answer.text).correlation_id).toBe(id)
  })

  it.each(['', 'a b', 'a,b', 'a/b', '<script>', 'é', "a'b", 'x'.repeat(129)])(
    '%j counts as absent: one is made up',
    async (id) => {
      const answer = await ask({ 'X-Correlation-Id': id })
      expect(answer.headers['x-correlation-id']).toMatch(UUID_V7)
      expect(JSON.parse(answer.text).correlation_id).toBe(answer.headers['x-correlation-id'])
    },
  )

  it('falls back to X-Request-Id, which is held to the same grammar', async () => {
    const answer = await ask({ 'X-Correlation-Id': 'a b', 'X-Request-Id': 'request-1' })
    expect(answer.headers['x-correlation-id']).toBe('request-1')
    expect((await ask({ 'X-Request-Id': 'a b' })).headers['x-correlation-id']).toMatch(UUID_V7)
  })

  it('given twice counts as absent, since neither can be told to be meant', async () => {
    const bytes = 'GET /v1/fixture/old HTTP/1.1\r\nHost: x\r\nX-Correlation-Id: a\r\nX-Correlation-Id: b\r\n\r\n'
    expect((await sendRaw(server.port, bytes)).headers['x-correlation-id']).toMatch(UUID_V7)
  })

  it.each([
    ['an operation', '/v1/fixture/open'],
    ['a path that nothing has', '/v1/nothing'],
    ['broken percent-encoding', '/%zz'],
    ['another method', '/v1/fixture/transfers'],
  ])('is on the answer of %s', async (_, path) => {
    expect((await ask({ 'X-Correlation-Id': 'mine' }, path)).headers['x-correlation-id']).toBe('mine')
  })
})
