import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { firstArrival } from '../../../src/server/http/pages/first-arrival.ts'
import { pageDocument } from '../../../src/shared/pages/page-document.ts'
import { markup } from '../../../src/shared/pages/markup.ts'
import type { PageVisit } from '../../../src/server/http/pages/pages.ts'
import { problem } from '../../../src/shared/problems.ts'
import { SUBJECTS } from '../../support/server/fixture-callers.ts'
import { startEdge, type Edge } from '../../support/server/edge.ts'

const ORIGIN = 'https://console.example'
const HTML = { accept: 'text/html,application/xhtml+xml' }

describe('pages beside the operations', () => {
  let edge: Edge
  let visits: PageVisit[] = []

  beforeAll(async () => {
    edge = await startEdge({
      allowedOrigins: [ORIGIN],
      pages: [
        {
          method: 'GET',
          path: '/v1/fixture/page',
          handler(visit) {
            visits.push(visit)
            const body = markup`<h1>${visit.session?.subject}</h1>`
            return firstArrival(visit) ?? { document: pageDocument({ title: 'A page', body }) }
          },
        },
        {
          method: 'POST',
          path: '/v1/fixture/page',
          handler(visit) {
            visits.push(visit)
            const cookie = { name: 'seen', value: '1', path: '/', sameSite: 'Lax', isHttpOnly: true } as const
            return { location: '/', cookies: [cookie] }
          },
        },
        {
          method: 'GET',
          path: '/v1/fixture/public-page',
          isPublic: true,
          handler(visit) {
            visits.push(visit)
            return { document: pageDocument({ title: 'A page', body: markup`<h1>For everybody</h1>` }) }
          },
        },
        {
          method: 'GET',
          path: '/v1/fixture/failing-page',
          handler: () => {
            throw problem('session_not_found')
          },
        },
        {
          method: 'GET',
          path: '/v1/fixture/broken-page',
          handler: () => {
            throw new Error('a secret <b>')
          },
        },
      ],
      foreignRoutes: [
        {
          prefix: '/v1/fixture/foreign',
          handle(request, response) {
            let bytes = 0
            request.on('data', (chunk: Buffer) => (bytes += chunk.length))
            request.on('end', () => response.end(`${request.method} ${request.url} ${bytes}`))
          },
        },
      ],
    })
  })
  afterAll(() => edge.app.drain(1000))

  const ask = (path: string, init: RequestInit = {}) => {
    visits = []
    return fetch(`http://127.0.0.1:${edge.port}${path}`, { redirect: 'manual', ...init })
  }

  test('carry the headers that keep others out', async () => {
    const response = await ask('/v1/fixture/page')
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
    })
    expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(response.headers.get('x-correlation-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('know whose session they are visited with', async () => {
    const response = await ask('/v1/fixture/page', { headers: { cookie: 'service_session=ses_admin' } })
    expect(await response.text()).toContain(SUBJECTS.admin)
  })

  test.each([
    ['no cookie', {}],
    ['a cookie that is no session', { cookie: 'service_session=ses_unknown' }],
    ['a token, which is nobody’s browser', { authorization: 'Bearer psk_admin' }],
  ])('are visited by nobody with %s', async (_, headers) => {
    await ask('/v1/fixture/page', { headers })
    expect(visits.map(({ session }) => session)).toEqual([undefined])
  })

  test('that are the same for everybody look no session up, and so are there while the datastore is away', async () => {
    const away = { headers: { cookie: 'service_session=ses_down' } }
    expect((await ask('/v1/fixture/page', away)).status).toBe(503)
    expect((await ask('/v1/fixture/public-page', away)).status).toBe(200)
    await ask('/v1/fixture/public-page', { headers: { cookie: 'service_session=ses_admin' } })
    expect(visits.map(({ session }) => session)).toEqual([undefined])
  })

  test('refresh themselves once where a session may be missing only on the way from another site', async () => {
    const first = await ask('/v1/fixture/page?user_code=X', { headers: { 'sec-fetch-site': 'cross-site' } })
    const again = /url=([^"]+)"/.exec(await first.text())?.[1]?.replaceAll('&amp;', '&') ?? ''
    expect(again).toMatch(/^\/v1\/fixture\/page\?user_code=X&arrived=\d+$/)
    const second = await ask(again, { headers: { 'sec-fetch-site': 'cross-site' } })
    expect(await second.text()).not.toContain('http-equiv="refresh"')
    expect(visits.map(({ target }) => target)).toEqual(['/v1/fixture/page?user_code=X'])
  })

  describe('where nothing is', () => {
    const signedIn = { cookie: 'service_session=ses_admin' }
    const shown = async (response: Response) => [
      response.status,
      response.headers.get('content-type'),
      /<h1>([^<]*)</.exec(await response.text())?.[1],
    ]

    test.each([
      ['outside the API', '/nothing', {}, [404, 'There is no such page']],
      ['below the API, to somebody who is signed in', '/v1/nothing', signedIn, [404, 'There is no such page']],
      ['below the API, to strangers', '/v1/nothing', {}, [401, 'You are not signed in']],
      ['at an address for other methods', '/v1/fixture/page/', signedIn, [404, 'There is no such page']],
    ])('a browser that navigates is shown a page, %s', async (_, path, headers, [status, heading]) => {
      const response = await ask(path, { headers: { ...HTML, ...headers } })
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(response.headers.get('x-correlation-id')).toMatch(/^[0-9a-f-]{36}$/)
      expect(await shown(response)).toEqual([status, 'text/html; charset=utf-8', heading])
    })

    test.each([
      ['a program that names no type', { accept: '*/*' }],
      ['a program that wants JSON', { accept: 'application/json, text/html' }],
    ])('%s gets a problem document', async (_, headers) => {
      for (const [path, status, code] of [
        ['/nothing', 404, 'not_found'],
        ['/v1/nothing', 401, 'unauthenticated'],
      ] as const) {
        const response = await ask(path, { headers })
        expect([response.status, response.headers.get('content-type')]).toEqual([status, 'application/problem+json'])
        expect(await response.json()).toMatchObject({ code, correlation_id: expect.any(String) })
      }
    })

    test('a change of what is not there is answered with a problem document, whatever it accepts', async () => {
      const response = await ask('/nothing', { method: 'POST', headers: HTML })
      expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
    })
  })

  test('take forms, and answer with a redirect and cookies', async () => {
    const response = await ask('/v1/fixture/page', { method: 'POST', body: new URLSearchParams({ name: 'ü&' }) })
    expect(response.status).toBe(303)
    expect(response.headers.get('location')).toBe('/')
    expect(response.headers.getSetCookie()).toEqual(['seen=1; Path=/; SameSite=Lax; HttpOnly'])
    expect(visits.map(({ form }) => form.get('name'))).toEqual(['ü&'])
  })

  test.each([
    ['another origin', { origin: 'https://evil.example' }, 403],
    ['an opaque origin', { origin: 'null' }, 403],
    ['another site that names no origin', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a sibling that names no origin', { 'sec-fetch-site': 'same-site' }, 403],
    ['an allowed origin', { origin: ORIGIN }, 303],
  ])('take forms from %s: %s %i', async (_, headers, status) => {
    const response = await ask('/v1/fixture/page', { method: 'POST', headers, body: new URLSearchParams() })
    expect(response.status).toBe(status)
    expect(visits).toHaveLength(status === 303 ? 1 : 0)
  })

  test('refuse a body that is no form', async () => {
    const headers = { 'content-type': 'application/json' }
    expect((await ask('/v1/fixture/page', { method: 'POST', headers, body: '{}' })).status).toBe(415)
  })

  test('show a failure to people as a page, and to programs as a problem document', async () => {
    const page = await ask('/v1/fixture/failing-page', { headers: HTML })
    expect(page.status).toBe(404)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await page.text()).toContain('No such session is live.')
    const document = await ask('/v1/fixture/failing-page')
    expect(document.headers.get('content-type')).toBe('application/problem+json')
    expect(await document.json()).toMatchObject({ code: 'session_not_found', status: 404 })
  })

  test('keep what went wrong to the log', async () => {
    const page = await ask('/v1/fixture/broken-page', { headers: HTML })
    expect(page.status).toBe(500)
    expect(await page.text()).not.toContain('secret')
  })

  test('answer methods that they lack with 405', async () => {
    const response = await ask('/v1/fixture/page', { method: 'DELETE' })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('GET, HEAD, POST')
  })

  test('answer HEAD as GET, without the document', async () => {
    const [whole, head] = [await ask('/v1/fixture/page'), await ask('/v1/fixture/page', { method: 'HEAD' })]
    expect([head.status, await head.text()]).toEqual([whole.status, ''])
    expect(head.headers.get('content-security-policy')).toBe(whole.headers.get('content-security-policy'))
  })

  test.each(['/v1/fixture/foreign', '/v1/fixture/foreign/below/it'])(
    '%s is served by another library',
    async (path) => {
      const body = 'x'.repeat(20_000)
      const headers = { 'content-type': 'text/plain' }
      const response = await ask(`${path}?q=1`, { method: 'POST', headers, body })
      expect(await response.text()).toBe(`POST ${path}?q=1 20000`)
    },
  )
})
