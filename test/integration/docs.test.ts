import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { exchange, signed, type WireAnswer } from '../conformance/wire.ts'
import { startFixture, type FixtureServer } from '../support/server/fixture-server.ts'

let server: FixtureServer
beforeAll(async () => {
  server = await startFixture()
})
afterAll(() => server.stop())

function ask(path: string, { method = 'GET', as }: { method?: string; as?: string } = {}): Promise<WireAnswer> {
  return exchange(server.url, signed({ method, path }, as))
}

test('anybody gets the page, with exactly its headers', async () => {
  const { status, headers, text } = await ask('/v1/docs')
  expect(status).toBe(200)
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; worker-src 'self' blob:; img-src 'self' data:",
    'x-content-type-options': 'nosniff',
    'x-service-api-version': 'current=v1, latest=v1',
  })
  expect(text).toMatch(/^<!doctype html>/)
})

test('anybody gets the renderer, with exactly its headers', async () => {
  const { status, headers, text } = await ask('/v1/docs/assets/redoc.standalone.js')
  expect({ status, text }).toEqual({ status: 200, text: '/* drawn */' })
  expect(headers).toMatchObject({
    'content-type': 'application/javascript; charset=utf-8',
    'cache-control': 'public, max-age=3600',
    'x-content-type-options': 'nosniff',
    'x-service-api-version': 'current=v1, latest=v1',
  })
})

test('the page holds the contract that the server serves to those who present a credential', async () => {
  const { text } = await ask('/v1/docs')
  const served = await ask('/v1/openapi.json', { as: 'psk_nobody' })
  const [, block = ''] = /id="contract">(.*?)<\/script>/.exec(text) ?? []
  expect(JSON.parse(block)).toEqual(served.json)
})

describe('any other asset', () => {
  it.each([
    '/v1/docs/assets/',
    '/v1/docs/assets/other.js',
    '/v1/docs/assets/REDOC.standalone.js',
    '/v1/docs/assets/redoc.standalone.js.',
    '/v1/docs/assets/redoc.standalone.js/',
    '/v1/docs/assets/redoc.standalone.js%00',
    '/v1/docs/assets//redoc.standalone.js',
    '/v1/docs/assets/../redoc.standalone.js',
    '/v1/docs/assets/..%2f..%2fetc/passwd',
    '/v1/docs/assets/..%2f..%2fetc%2fpasswd',
    '/v1/docs/assets/../../../etc/passwd',
    `/v1/docs/assets/${'x'.repeat(900)}`,
  ])('%s is not found, whoever asks', async (path) => {
    const { status, json, headers } = await ask(path)
    expect({ status, type: headers['content-type'] }).toEqual({ status: 404, type: 'application/problem+json' })
    expect(json).toMatchObject({ code: 'not-found', type: '/problems/not-found', status: 404 })
  })
})

describe('what only looks like the page asks for a credential first', () => {
  it.each([
    '/v1/docsx',
    '/v1/docs/',
    '/v1/docs/assets',
    '/v1/docs_bypass_attempt',
    '/v1/docs.',
    '/v1/docs/.',
    '/v1/docs;x',
    '/v1/docs%2f',
    '/v1/docs%2fassets%2fredoc.standalone.js',
    '/v1/docs/assetsx/redoc.standalone.js',
    '/v1//docs',
    '/v1/Docs',
    '/v1/docs/../docs',
    '/v1/nothing?x=1',
  ])('%s', async (path) => {
    const anonymous = await ask(path)
    expect(anonymous).toMatchObject({ status: 401, json: { code: 'unauthenticated', status: 401 } })
    expect(anonymous.headers).toMatchObject({
      'www-authenticate': 'Bearer',
      'x-service-api-version': 'current=v1, latest=v1',
    })
    expect(anonymous.headers['x-correlation-id']).toBe(anonymous.json?.['correlation_id'])
    expect(await ask(path, { as: 'psk_unknown' })).toMatchObject({ status: 401 })
    expect(await ask(path, { as: 'psk_nobody' })).toMatchObject({ status: 404, json: { code: 'not_found' } })
    expect(await ask(path, { as: 'nsk_own' })).toMatchObject({ status: 404, json: { code: 'not_found' } })
  })
})

test('who asks is settled before a byte of the body is read', async () => {
  const bodies = [
    { headers: { 'content-type': 'text/plain' }, body: 'x' },
    { headers: { 'content-type': 'application/json' }, body: '{' },
    { headers: { 'content-type': 'application/json' }, body: 'x'.repeat(100_000) },
    { headers: {}, body: 'x', chunked: true },
  ]
  for (const rest of bodies) {
    const wire = { method: 'POST', path: '/v1/docsx', ...rest }
    expect(await exchange(server.url, wire)).toMatchObject({ status: 401 })
    expect(await exchange(server.url, signed(wire, 'psk_nobody'))).toMatchObject({ status: 404 })
  }
})

test.each(['/', '/nothing', '/v2/docs', '//v1/docs', '/V1/docs'])(
  '%s is no part of the API: not found',
  async (path) => {
    expect(await ask(path)).toMatchObject({ status: 404, json: { code: 'not_found' } })
  },
)

test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s is no method of the page or its asset', async (method) => {
  for (const path of ['/v1/docs', '/v1/docs/assets/redoc.standalone.js']) {
    const { status, headers } = await ask(path, { method })
    expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: 'GET, HEAD' })
  }
})

test('HEAD has the headers of the page and its asset, and no body', async () => {
  for (const path of ['/v1/docs', '/v1/docs/assets/redoc.standalone.js']) {
    const [whole, head] = [await ask(path), await ask(path, { method: 'HEAD' })]
    expect([head.status, head.text]).toEqual([200, ''])
    expect(head.headers['content-length']).toBe(String(Buffer.byteLength(whole.text)))
    expect(head.headers['content-type']).toBe(whole.headers['content-type'])
  }
})

test('neither takes a query, and a broken escape is no path', async () => {
  expect(await ask('/v1/docs?x=1')).toMatchObject({ status: 400, json: { code: 'invalid_query' } })
  expect(await ask('/v1/docs/assets/redoc.standalone.js?v=1')).toMatchObject({
    status: 400,
    json: { code: 'invalid_query' },
  })
  expect(await ask('/v1/docs/assets/%zz')).toMatchObject({ status: 400, json: { code: 'invalid_path' } })
})
