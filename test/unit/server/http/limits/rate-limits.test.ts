import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Rates } from '../../../../../src/server/ports/rates.ts'
import { exchange, signed, type WireAnswer } from '../../../../conformance/wire.ts'
import { limitClassOf } from '../../../../../src/shared/contract/limit-classes.ts'
import { NODE, OTHER_NODE, PROJECT } from '../../../../support/server/fixture-callers.ts'
import { startFixture, type FixtureServer } from '../../../../support/server/fixture-server.ts'

const RATES: Rates = {
  failedCredentials: { count: 2, seconds: 60 },
  signIn: { count: 2, seconds: 60 },
  serviceTokens: { count: 2, seconds: 60 },
  registrations: { count: 1, seconds: 1 },
  node: { count: 2, seconds: 1 },
  domain: { count: 3, seconds: 1 },
  writes: { count: 3, seconds: 1 },
  reads: { count: 2, seconds: 1 },
}

const READ = 'GET /v1/fixture/own-things'
const CHECK = 'POST /v1/fixture/transfers'
const CHANGE = `POST /v1/fixture/projects/${PROJECT}/things`

let server: FixtureServer
beforeAll(async () => {
  server = await startFixture({ rates: RATES, trustedProxies: ['127.0.0.0/8'] })
})
afterAll(() => server.stop())
/** Fills every bucket again. */
beforeEach(() => {
  server.clock.nowMs += 3_600_000
})

interface Calling {
  readonly from?: string
  readonly body?: string
}

function call(credential: string | undefined, operation: string, { from, body }: Calling = {}): Promise<WireAnswer> {
  const [method = '', path = ''] = operation.split(' ')
  const headers = {
    ...(from !== undefined && { 'x-forwarded-for': from }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  return exchange(server.url, signed({ method, path, headers, ...(body !== undefined && { body }) }, credential))
}

/** Statuses and codes of calls one after the other. */
async function outcomes(times: number, once: () => Promise<WireAnswer>): Promise<readonly string[]> {
  const seen: string[] = []
  for (let count = 0; count < times; count += 1) {
    const { status, json } = await once()
    seen.push(status < 400 ? 'ok' : `${status} ${String(json?.['code'])}`)
  }
  return seen
}

const note = (node: string, credential: string) => () =>
  call(credential, `PUT /v1/fixture/nodes/${node}/note`, { body: '{"note":"x"}' })

describe('a principal', () => {
  it('is refused beyond its rate, told when to come back, and let in then', async () => {
    expect(await outcomes(3, () => call('psk_admin', READ))).toEqual(['ok', 'ok', '429 rate_limited'])
    const { headers, json } = await call('psk_admin', READ)
    expect(headers).toMatchObject({
      'retry-after': '1',
      'ratelimit-policy': '"reads";q=2;w=1',
      ratelimit: '"reads";r=0;t=1',
      'content-type': 'application/problem+json',
    })
    expect(json).toMatchObject({ type: '/problems/rate-limited', status: 429, code: 'rate_limited' })
    expect(json).not.toHaveProperty('retry_after_seconds')
    server.clock.nowMs += 500
    expect(await outcomes(2, () => call('psk_admin', READ))).toEqual(['ok', '429 rate_limited'])
  })

  it('shares one rate among its credentials, and has it to itself', async () => {
    expect(await outcomes(2, () => call('psk_admin', READ))).toEqual(['ok', 'ok'])
    expect((await call('psk_reader', READ)).status).toBe(429)
    expect((await call('psk_viewer', READ)).status).not.toBe(429)
  })

  it('is refused before anything of the request is judged', async () => {
    const wrong = () => call('psk_admin', `${READ}?unknown=1`)
    expect(await outcomes(3, wrong)).toEqual(['400 invalid_query', '400 invalid_query', '429 rate_limited'])
  })

  it('spends a change on its writes, and a check on its reads although it is a POST', async () => {
    const wrong = { body: 'nonsense' }
    const refused = '400 invalid_body'
    expect(await outcomes(4, () => call('psk_admin', CHANGE, wrong))).toEqual([
      ...Array(3).fill(refused),
      '429 rate_limited',
    ])
    expect(await outcomes(3, () => call('psk_admin', CHECK, wrong))).toEqual([
      ...Array(2).fill('400 invalid_service_identity'),
      '429 rate_limited',
    ])
  })

  it('leaves 10 audit rows a minute of its calls beyond the rate, and one with the count of the rest', async () => {
    const other = await startFixture({ rates: { ...RATES, reads: { count: 1, seconds: 1 } } })
    const ask = (id: string) =>
      exchange(other.url, signed({ method: 'GET', path: '/v1/fixture/own-things' }, 'psk_admin', id))
    for (const id of ['let-in', ...Array.from({ length: 13 }, (_, at) => `refused-${at + 1}`)]) await ask(id)
    await other.app.drain(1000)
    await other.audit.close()
    const row = { subject: expect.stringMatching(/^user:/), outcome: 'invariant_violation', reason: 'rate_limited' }
    expect(await other.audited('let-in')).toMatchObject([{ outcome: 'granted' }])
    expect(await other.audited('refused-1')).toMatchObject([{ ...row, context: {} }])
    expect(await other.audited('refused-10')).toMatchObject([{ ...row, context: {} }])
    expect(await other.audited('refused-11')).toMatchObject([{ ...row, context: { count: 3 } }])
    expect(await other.audited('refused-12')).toEqual([])
    await other.datastore.close()
  })
})

describe('a node', () => {
  it('has a rate of its own whatever it calls', async () => {
    expect((await note(NODE, 'nsk_own')()).status).toBeLessThan(300)
    const read = () => call('nsk_own', `GET /v1/fixture/nodes/${NODE}/note`)
    expect(await outcomes(2, read)).toEqual(['ok', '429 per_node_rate_limited'])
    expect((await note(OTHER_NODE, 'nsk_other')()).status).toBeLessThan(300)
  })

  it('shares another one with the nodes of its Domain', async () => {
    expect(await outcomes(2, note(NODE, 'nsk_own'))).toEqual(['ok', 'ok'])
    expect(await outcomes(2, note(OTHER_NODE, 'nsk_other'))).toEqual(['ok', '429 per_domain_rate_limited'])
  })
})

describe('an address', () => {
  const guess = (from: string) => () => call('psk_guessed', READ, { from })
  const unresolved = '401 unauthenticated'

  it('from which too many credentials came that do not resolve gets 429 for more of them', async () => {
    expect(await outcomes(3, guess('203.0.113.1'))).toEqual([unresolved, unresolved, '429 rate_limited'])
    expect((await guess('203.0.113.1')()).headers).toMatchObject({
      'retry-after': '30',
      'ratelimit-policy': '"failed-credentials";q=2;w=60',
    })
  })

  it('is told its limit on unknown paths as well', async () => {
    const unknown = () => call('psk_guessed', 'GET /v1/nothing', { from: '203.0.113.2' })
    expect(await outcomes(3, unknown)).toEqual([unresolved, unresolved, '429 rate_limited'])
    expect((await unknown()).headers).toMatchObject({ 'ratelimit-policy': '"failed-credentials";q=2;w=60' })
  })

  it('is held against no caller whose credential resolves, and nobody who sends none', async () => {
    await outcomes(3, guess('203.0.113.1'))
    expect((await call('psk_admin', READ, { from: '203.0.113.1' })).status).toBe(200)
    const none = () => call(undefined, READ, { from: '203.0.113.1' })
    expect(await outcomes(3, none)).toEqual([unresolved, unresolved, unresolved])
  })

  it('is counted also where resolving takes time', async () => {
    const slow = () => call('psk_guessed_slow', READ, { from: '203.0.113.1' })
    expect(await outcomes(3, slow)).toEqual([unresolved, unresolved, '429 rate_limited'])
  })

  it('is not charged while the datastore is away', async () => {
    const down = () => call('psk_down', READ, { from: '203.0.113.1' })
    expect(await outcomes(3, down)).toEqual(Array(3).fill('503 datastore_unavailable'))
  })

  it.each([
    ['is one IPv4 address', '203.0.113.1', '203.0.113.1', 429],
    ['is not another IPv4 address', '203.0.113.1', '203.0.113.2', 401],
    ['is an IPv6 /64', '2001:db8::1', '2001:db8:0:0:ffff::2', 429],
    ['is not another IPv6 /64', '2001:db8::1', '2001:db8:0:1::1', 401],
  ])('%s', async (_, first, second, status) => {
    await outcomes(2, guess(first))
    expect((await guess(second)()).status).toBe(status)
  })
})

describe('the class of an operation', () => {
  it.each([
    [{ method: 'GET' }, 'api-token', 'read'],
    [{ method: 'POST' }, 'api-token', 'write'],
    [{ method: 'POST', access: 'read' }, 'session', 'read'],
    [{ method: 'POST' }, 'nsk', 'node'],
    [{ method: 'GET' }, 'nsk', 'node'],
    [{ method: 'POST' }, 'join-token', 'registration'],
  ] as const)('%j called with %s is %s', (operation, kind, expected) => {
    expect(limitClassOf(operation, kind)).toBe(expected)
  })
})
