import { afterEach, describe, expect, test } from 'vitest'
import type { Page } from '../../../src/server/http/pages/pages.ts'
import type { Rates } from '../../../src/server/ports/rates.ts'
import { createSignOutPage, type SignOutPageDeps } from '../../../src/server/slices/sign-in/sign-out-page.ts'
import { ADMIN_SESSION } from '../../support/server/fixture-callers.ts'
import { startEdge, type Edge } from '../../support/server/edge.ts'

let server: Edge
afterEach(() => server.app.drain(100))

const [SESSION = ''] = ADMIN_SESSION.split('; ')
const CSRF_TOKEN = ADMIN_SESSION.split('service_csrf=')[1] ?? ''
const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const WIDE = { count: 1_000_000, seconds: 1 }
const RATES: Rates = {
  serviceTokens: WIDE,
  failedCredentials: WIDE,
  signIn: { count: 2, seconds: 60 },
  registrations: WIDE,
  node: WIDE,
  domain: WIDE,
  writes: WIDE,
  reads: WIDE,
}

function ask(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${server.port}${path}`, { redirect: 'manual', ...init })
}

const post = (path: string, headers: Readonly<Record<string, string>>, body?: string) =>
  ask(path, { method: 'POST', headers, ...(body !== undefined && { body }) })

async function codeOf(response: Response) {
  const document = (await response.json()) as { readonly code: string }
  return [response.status, document.code] as const
}

describe('double submit', () => {
  const echo = (token: string) => ({ cookie: ADMIN_SESSION, 'x-csrf-token': token })

  test('takes a session that echoes its own token', async () => {
    server = await startEdge()
    expect((await post('/v1/fixture/double-submit', echo(CSRF_TOKEN))).status).toBe(204)
  })

  test.each([
    ['no token', { cookie: ADMIN_SESSION }],
    ['the cookie alone, which a browser sends by itself', { cookie: `${SESSION}; service_csrf=${CSRF_TOKEN}` }],
    ['an empty token', echo('')],
    ['the token of another session', echo('csrf-of-another')],
    // A sibling site may plant a cookie; the token is bound to the session, not to the cookie.
    ['a planted pair', { cookie: `${SESSION}; service_csrf=planted`, 'x-csrf-token': 'planted' }],
    ['a token that begins alike', echo(CSRF_TOKEN.slice(0, -1))],
    ['a token of other letters outside ASCII', echo(`${CSRF_TOKEN.slice(0, -1)}\u00e9`)],
  ])('refuses %s', async (_, headers) => {
    server = await startEdge()
    expect(await codeOf(await post('/v1/fixture/double-submit', headers))).toEqual([403, 'csrf_failed'])
    expect(server.audited.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ['permission_denied', 'csrf_failed'],
    ])
  })

  test('looks at the origin first', async () => {
    server = await startEdge()
    const headers = { ...echo(CSRF_TOKEN), origin: 'https://evil.example' }
    expect(await codeOf(await post('/v1/fixture/double-submit', headers))).toEqual([403, 'origin_not_allowed'])
  })

  test('passes nothing where the server makes no tokens', async () => {
    server = await startEdge({ csrfTokens: undefined })
    expect(await codeOf(await post('/v1/fixture/double-submit', echo('undefined')))).toEqual([403, 'csrf_failed'])
  })
})

describe('the order of refusals of a session', () => {
  const evil = { cookie: ADMIN_SESSION, origin: 'https://evil.example' }
  test('credential, then parameters, then gate, then origin, then body', async () => {
    server = await startEdge({
      authorizer: {
        kind: 'embedded',
        check: ({ resource }) =>
          resource.endsWith('12') ? { allowed: false, reason: 'insufficient_relation' } : { allowed: true, path: [] },
        pathOf: () => [],
        domainOf: () => null,
        hasRelation: () => true,
      },
    })
    const things = (project: string) => `/v1/fixture/projects/${project}/things`
    const [mine, theirs] = ['01935b5e-8f3a-7c61-9d0a-000000000011', '01935b5e-8f3a-7c61-9d0a-000000000012']
    const answers = [
      await post(things('nonsense'), { ...evil, cookie: 'service_session=ses_unknown' }, 'not JSON'),
      await post(things('nonsense'), evil, 'not JSON'),
      await post(things(theirs), evil, 'not JSON'),
      await post(things(mine), evil, 'not JSON'),
      await post(things(mine), { cookie: ADMIN_SESSION, 'content-type': 'application/json' }, 'not JSON'),
    ]
    expect(await Promise.all(answers.map(codeOf))).toEqual([
      [401, 'unauthenticated'],
      [400, 'invalid_project_id'],
      [403, 'permission_denied'],
      [403, 'origin_not_allowed'],
      [400, 'invalid_body'],
    ])
  })
})

describe('an operation of OAuth clients', () => {
  const grant = (grant_type: string) => post('/v1/fixture/grant', {}, new URLSearchParams({ grant_type }).toString())
  const asForm = (grant_type: string) =>
    post('/v1/fixture/grant', { 'content-type': 'application/x-www-form-urlencoded' }, `grant_type=${grant_type}`)

  test.each([
    ['pending', 400, 'authorization_pending', 'authorization_pending'],
    ['password', 400, 'unsupported_grant_type', 'unsupported_grant_type'],
    ['', 400, 'invalid_body', 'invalid_request'],
    ['away', 503, 'idp_unavailable', 'temporarily_unavailable'],
    ['broken', 500, 'internal', 'server_error'],
  ])('says %j as %i %s, with the error %s', async (type, status, code, error) => {
    server = await startEdge()
    const response = await asForm(type)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect([response.status, await response.json()]).toEqual([status, expect.objectContaining({ code, error })])
  })

  test('says so of a body that it does not take', async () => {
    server = await startEdge()
    expect(await (await grant('x')).json()).toMatchObject({ code: 'unsupported_media_type', error: 'invalid_request' })
  })

  test('counts by address whoever calls, and says when to come back', async () => {
    server = await startEdge({ rates: RATES })
    expect([(await asForm('x')).status, (await asForm('pending')).status]).toEqual([200, 400])
    const response = await asForm('x')
    expect(response.headers.get('retry-after')).toBe('30')
    expect(response.headers.get('ratelimit')).toBe('"sign-in";r=0;t=30')
    expect(response.headers.get('ratelimit-policy')).toBe('"sign-in";q=2;w=60')
    expect([response.status, await response.json()]).toEqual([
      429,
      expect.objectContaining({ code: 'rate_limited', error: 'temporarily_unavailable' }),
    ])
  })
})

describe('an operation that browsers come back to', () => {
  test('sends one that navigates on, with its cookies', async () => {
    server = await startEdge()
    const response = await ask('/v1/fixture/return?state=x', { headers: { accept: HTML } })
    expect([response.status, response.headers.getSetCookie()]).toEqual([
      303,
      ['been=1; Path=/v1/; SameSite=Lax; HttpOnly', 'gone=; Path=/v1/; SameSite=Strict; Max-Age=0'],
    ])
  })

  test('tells a program what it found out, Secure cookies behind a proxy that speaks TLS', async () => {
    server = await startEdge({ trustedProxies: ['127.0.0.1/32'] })
    const headers = { 'x-forwarded-proto': 'https', 'user-agent': 'a'.repeat(300), cookie: 'seen=yes' }
    const response = await ask('/v1/fixture/return?state=x', { headers })
    expect([response.status, await response.json()]).toEqual([
      200,
      { is_secure: true, user_agent: 'a'.repeat(256), seen: 'yes' },
    ])
    expect(response.headers.getSetCookie()[0]).toBe('been=1; Path=/v1/; SameSite=Lax; HttpOnly; Secure')
  })

  test('sends a failure of one that navigates to where it is said, and keeps nothing of it', async () => {
    server = await startEdge()
    const headers = { accept: HTML, 'x-correlation-id': 'c-1' }
    const response = await ask('/v1/fixture/return?state=unknown', { headers })
    expect([response.status, response.headers.get('location'), await response.text()]).toEqual([
      303,
      '/?problem=invalid_sign_in&correlation_id=c-1',
      '',
    ])
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  test('answers a program with the problem itself', async () => {
    server = await startEdge()
    expect(await codeOf(await ask('/v1/fixture/return?state=unknown'))).toEqual([400, 'invalid_sign_in'])
  })
})

describe('session cookies that do not resolve', () => {
  test('count against their address like other credentials', async () => {
    server = await startEdge({ rates: { ...RATES, failedCredentials: { count: 2, seconds: 60 } } })
    const wrong = { headers: { cookie: 'service_session=ses_unknown' } }
    const none = { headers: { cookie: 'theme=dark' } }
    const statuses: number[] = []
    for (const init of [wrong, none, wrong, wrong, none]) {
      statuses.push((await ask('/v1/fixture/things', init)).status)
    }
    expect(statuses).toEqual([401, 401, 401, 429, 401])
  })

  test('show pages from an address with too many of them, but send no form to a handler', async () => {
    const visited: string[] = []
    const page = (method: Page['method']): Page => ({
      method,
      path: '/v1/fixture/page',
      handler: ({ session }) => {
        visited.push(`${method} ${session?.subject}`)
        return { location: '/' }
      },
    })
    const rates = { ...RATES, failedCredentials: { count: 2, seconds: 60 } }
    server = await startEdge({ rates, pages: [page('GET'), page('POST')] })
    const headers = { cookie: 'service_session=ses_unknown' }
    const statuses: number[] = []
    for (const method of ['POST', 'POST', 'POST', 'GET']) {
      statuses.push((await ask('/v1/fixture/page', { method, headers })).status)
    }
    expect(statuses).toEqual([303, 303, 429, 303])
    expect(visited).toEqual(['POST undefined', 'POST undefined', 'GET undefined'])
    expect((await post('/v1/fixture/page', { cookie: SESSION })).status).toBe(303)
  })
})

describe('the sign-out page', () => {
  test('counts visits against their address', async () => {
    // Nothing is asked for a browser without a cookie.
    const page = createSignOutPage({} as SignOutPageDeps)
    server = await startEdge({ rates: RATES, pages: [page] })
    const statuses: number[] = []
    for (let visit = 0; visit < 3; visit += 1) statuses.push((await post('/v1/sign-out', {})).status)
    expect(statuses).toEqual([303, 303, 429])
  })
})
