import { afterEach, describe, expect, it } from 'vitest'
import { problem } from '../../../src/shared/problems.ts'
import type { Authorizer } from '../../../src/server/ports/authorizer.ts'
import { permissive, startEdge, type Edge } from '../../support/server/edge.ts'
import { NODE, OTHER_PROJECT, PROJECT } from '../../support/server/fixture-callers.ts'
import { openRawSocket, requestBytes, sendRaw, type RawAnswer } from '../../support/network/raw-socket.ts'

let server: Edge
afterEach(() => server.app.drain(100))

const as = (token: string) => ({ Authorization: `Bearer ${token}` })

/** Asks a path as a caller. */
function get(path: string, token = 'psk_admin'): Promise<RawAnswer> {
  return sendRaw(server.port, requestBytes(`GET ${path}`, as(token)))
}

function documentOf({ text }: RawAnswer): Readonly<Record<string, unknown>> {
  return JSON.parse(text)
}

/** Puts so many things into the Project. */
function arrange(count: number, project_id = PROJECT): void {
  for (let index = 0; index < count; index++) {
    const id = `01935b5e-8f3a-7c61-9d0a-00000000${(0x1000 + server.fixture.things.length).toString(16)}`
    server.fixture.things.push({ id, project_id, slug: `thing-${index}`, created_at: '2026-03-01T08:00:00.000Z' })
  }
}

describe('the client address, as handlers and the audit log see it', () => {
  /** Asks from an address of this machine with forwarded hops. */
  async function addressSeen(trustedProxies: readonly string[], from: string, headers: Record<string, string>) {
    server = await startEdge({ trustedProxies })
    arrange(1)
    let seen: string | undefined
    server.fixture.interrupt = (ctx) => {
      seen = ctx.sourceAddress
    }
    const socket = await openRawSocket(server.port, from)
    socket.send(requestBytes(`GET /v1/fixture/projects/${PROJECT}/things/thing-0`, { ...as('psk_admin'), ...headers }))
    await socket.answers(1)
    socket.destroy()
    return seen
  }

  const HOPS = { 'X-Forwarded-For': '203.0.113.9, 198.51.100.7, 10.1.2.3' }
  it.each([
    ['the rightmost hop that is no trusted proxy', ['127.0.0.0/8', '10.0.0.0/8'], '127.0.0.1', HOPS, '198.51.100.7'],
    ['the last proxy, where its peer is none', ['127.0.0.0/8'], '127.0.0.1', HOPS, '10.1.2.3'],
    ['the peer, where it is no proxy', ['127.0.0.1/32'], '127.0.0.2', HOPS, '127.0.0.2'],
    ['the peer, where no proxy is trusted', [], '127.0.0.1', HOPS, '127.0.0.1'],
    [
      'the peer, whatever other headers say',
      ['127.0.0.0/8'],
      '127.0.0.1',
      { Forwarded: 'for=203.0.113.9', 'X-Real-IP': '203.0.113.9' },
      '127.0.0.1',
    ],
  ] as const)('is %s', async (_, proxies, from, headers, address) => {
    expect(await addressSeen(proxies, from, { ...headers })).toBe(address)
  })

  it('of several headers takes the hops in their order', async () => {
    server = await startEdge({ trustedProxies: ['127.0.0.0/8'] })
    const hops = 'X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-For: 198.51.100.7'
    await sendRaw(server.port, `GET /v1/fixture/old HTTP/1.1\r\nHost: x\r\n${hops}\r\n\r\n`)
    await server.app.drain(100)
    expect(server.audited.map(({ context }) => context['source_address'])).toEqual(['198.51.100.7'])
  })

  it('is on the rows of callers that nobody knows: 10 of each address, then one with a count', async () => {
    server = await startEdge({ trustedProxies: ['127.0.0.0/8'] })
    const call = (hop: string, id: string) =>
      sendRaw(server.port, requestBytes('GET /v1/fixture/old', { 'X-Forwarded-For': hop, 'X-Correlation-Id': id }))
    for (let number = 1; number <= 12; number++) await call('198.51.100.7', `c${number}`)
    await call('198.51.100.8', 'c13')
    await server.app.drain(100)
    const row = (address: string, id: string, count?: number) => ['anonymous', address, id, count]
    expect(
      server.audited.map(({ subject, correlationId, context }) => [
        subject,
        context['source_address'],
        correlationId,
        context['count'],
      ]),
    ).toEqual([
      ...Array.from({ length: 10 }, (_, at) => row('198.51.100.7', `c${at + 1}`)),
      row('198.51.100.8', 'c13'),
      row('198.51.100.7', 'c11', 2),
    ])
  })
})

describe('an operation that wants a stronger sign-in', () => {
  const post = () => sendRaw(server.port, requestBytes('POST /v1/fixture/stepped-up', as('psk_admin')))

  it('refuses a weaker one with the challenge of RFC 9470, says what would do, and audits it', async () => {
    const wanted = { acrValues: ['urn:mfa', 'urn:hardware'] }
    server = await startEdge({ stepUp: (policy) => (policy === 'strong' ? wanted : undefined) })
    const answer = await post()
    expect(answer.status).toBe(401)
    expect(answer.headers['www-authenticate']).toBe(
      'Bearer error="insufficient_user_authentication", acr_values="urn:mfa urn:hardware"',
    )
    expect(documentOf(answer)).toMatchObject({ code: 'step_up_required', acr_values: ['urn:mfa', 'urn:hardware'] })
    expect(documentOf(answer)).not.toHaveProperty('challenge')
    expect(server.audited).toMatchObject([{ outcome: 'permission_denied', reason: 'step_up_required' }])
  })

  it.each([
    [{ maxAgeSeconds: 900 }, 'max_age="900"', { acr_values: undefined, max_age: 900 }],
    [
      { acrValues: ['urn:mfa'], maxAgeSeconds: 0 },
      'acr_values="urn:mfa", max_age="0"',
      { acr_values: ['urn:mfa'], max_age: 0 },
    ],
  ])('refuses one that is too old with its greatest age: %j', async (wanted, challenge, members) => {
    server = await startEdge({ stepUp: () => wanted })
    const answer = await post()
    expect(answer.headers['www-authenticate']).toBe(`Bearer error="insufficient_user_authentication", ${challenge}`)
    const { max_age, acr_values } = documentOf(answer)
    expect({ acr_values, max_age }).toEqual(members)
  })

  it.each([
    ['that is satisfied', () => undefined],
    ['that is not configured', undefined],
  ])('runs under a policy %s', async (_, stepUp) => {
    server = await startEdge({ stepUp })
    expect((await post()).status).toBe(204)
  })

  it('asks the policy about the caller that was resolved', async () => {
    const asked: unknown[] = []
    server = await startEdge({
      stepUp(policy, { subject }) {
        asked.push([policy, subject])
        return undefined
      },
    })
    await post()
    expect(asked).toEqual([['strong', 'user:01935b5e-8f3a-7c61-9d0a-000000000031']])
  })

  it('asks nobody who is unknown', async () => {
    server = await startEdge({ stepUp: () => ({ acrValues: ['urn:mfa'] }) })
    const answer = await sendRaw(server.port, requestBytes('POST /v1/fixture/stepped-up'))
    expect([answer.headers['www-authenticate'], documentOf(answer)['code']]).toEqual(['Bearer', 'unauthenticated'])
  })
})

describe('a cursor', () => {
  /** The cursor of the first page of a list. */
  async function cursorOf(path: string, token = 'psk_admin'): Promise<string> {
    return String(documentOf(await get(`${path}?limit=1`, token))['next_cursor'])
  }
  const codeAt = async (path: string, token?: string) => {
    const answer = await get(path, token)
    return [answer.status, documentOf(answer)['code']]
  }

  it('goes on where its page ended', async () => {
    server = await startEdge()
    arrange(2)
    const page = documentOf(await get(`/v1/fixture/things?limit=1&cursor=${await cursorOf('/v1/fixture/things')}`))
    expect(page).toMatchObject({ items: [{ slug: 'thing-1' }], next_cursor: null })
  })

  it('of another operation is invalid, and so is one of another caller there', async () => {
    server = await startEdge()
    arrange(2)
    const things = await cursorOf('/v1/fixture/things')
    const own = await cursorOf('/v1/fixture/own-things')
    expect(await codeAt(`/v1/fixture/own-things?cursor=${things}`)).toEqual([400, 'invalid_cursor'])
    expect(await codeAt(`/v1/fixture/things?cursor=${own}`)).toEqual([400, 'invalid_cursor'])
    expect(await codeAt(`/v1/fixture/things?cursor=${own}`, 'psk_viewer')).toEqual([400, 'invalid_cursor'])
  })

  it('of another caller is refused with 403 where the list binds callers, and taken where it does not', async () => {
    server = await startEdge()
    arrange(2)
    const own = await cursorOf('/v1/fixture/own-things')
    const things = await cursorOf('/v1/fixture/things')
    expect(await codeAt(`/v1/fixture/own-things?cursor=${own}`, 'psk_viewer')).toEqual([403, 'cursor_binding_mismatch'])
    expect(await codeAt(`/v1/fixture/things?cursor=${things}`, 'psk_viewer')).toEqual([200, undefined])
  })

  it('works with another credential of the same caller', async () => {
    server = await startEdge()
    arrange(2)
    const own = await cursorOf('/v1/fixture/own-things')
    expect(await codeAt(`/v1/fixture/own-things?cursor=${own}`, 'psk_admin_slow')).toEqual([200, undefined])
  })

  it('with any of its characters changed, cut or added to is invalid', async () => {
    server = await startEdge()
    arrange(2)
    const cursor = await cursorOf('/v1/fixture/things')
    const flipped = Array.from(
      cursor,
      (character, at) => cursor.slice(0, at) + (character === 'A' ? 'B' : 'A') + cursor.slice(at + 1),
    )
    for (const wrong of [
      ...flipped,
      cursor.slice(0, -1),
      `${cursor}A`,
      `${cursor}=`,
      `${cursor}%20`,
      cursor.slice(1),
    ]) {
      expect(await codeAt(`/v1/fixture/things?cursor=${wrong}`), wrong).toEqual([400, 'invalid_cursor'])
    }
  })
})

describe('a row that the authorizer cannot decide', () => {
  const fails = { thrown: (): never => fail(), rejected: (): Promise<never> => Promise.reject(fault()) }
  const fault = (): Error => problem('authz_unavailable')
  function fail(): never {
    throw fault()
  }

  /** Decides for every object but one Project. */
  function failingFor(project: string, how: () => never | Promise<never>): Authorizer {
    const isItsBusiness = (resource: string): boolean => resource === `project:${project}`
    return { ...permissive, check: (query) => (isItsBusiness(query.resource) ? how() : permissive.check(query)) }
  }

  it.each(Object.entries(fails))('is left out of its page and counted (%s)', async (_, how) => {
    server = await startEdge({ authorizer: failingFor(OTHER_PROJECT, how) })
    arrange(1)
    arrange(2, OTHER_PROJECT)
    arrange(1)
    const answer = await get('/v1/fixture/things')
    expect(answer.status).toBe(200)
    expect(documentOf(answer)['items']).toHaveLength(2)
    expect(server.audited).toMatchObject([{ outcome: 'granted', context: { item_count: 2, 'thing.list.faults': 2 } }])
  })

  it('is counted as authz_errors where the contract names no other member', async () => {
    const probes = {
      ...permissive,
      check: (query: Parameters<Authorizer['check']>[0]) =>
        query.relation === 'manage' ? fail() : permissive.check(query),
    }
    server = await startEdge({ authorizer: probes })
    arrange(1)
    const answer = await get(`/v1/fixture/projects/${PROJECT}/things/thing-0`)
    expect(documentOf(answer)).not.toHaveProperty('secret')
    expect(server.audited).toMatchObject([{ context: { authz_errors: 1, pseudonym_revealed: false } }])
  })

  it('is not counted where nothing failed: a denial is none', async () => {
    const denying: Authorizer = { ...permissive, check: () => ({ allowed: false, reason: 'insufficient_relation' }) }
    server = await startEdge({ authorizer: denying })
    arrange(2)
    expect(documentOf(await get('/v1/fixture/things'))['items']).toEqual([])
    expect(server.audited[0]?.context).toEqual({ item_count: 0 })
  })

  it('refuses the whole operation with 503 where it decides the gate', async () => {
    server = await startEdge({ authorizer: failingFor(PROJECT, fails.rejected) })
    const answer = await get(`/v1/fixture/projects/${PROJECT}/things/thing-0`)
    expect([answer.status, documentOf(answer)['code']]).toEqual([503, 'authz_unavailable'])
    expect(server.audited).toMatchObject([{ outcome: 'internal_error', reason: 'authz_unavailable' }])
  })
})

describe('a surface that is not wired', () => {
  const path = `/v1/fixture/unwired/${NODE}`

  it('answers 501 with the code of the operation, whatever is asked of it', async () => {
    server = await startEdge()
    for (const asked of [path, '/v1/fixture/unwired/nonsense', `${path}?unknown=1`]) {
      const answer = await get(asked)
      expect([answer.status, documentOf(answer)['code']]).toEqual([501, 'heartbeat_not_provisioned'])
    }
    expect(server.audited[0]).toMatchObject({ outcome: 'internal_error', reason: 'heartbeat_not_provisioned' })
  })

  it('still wants to know who asks', async () => {
    server = await startEdge()
    expect((await get(path, 'psk_x')).status).toBe(401)
  })

  it('is any gated operation without an authorizer', async () => {
    server = await startEdge({ authorizer: undefined })
    const answer = await get('/v1/fixture/old')
    expect([answer.status, documentOf(answer)['code']]).toEqual([501, 'authz_not_provisioned'])
    expect((await get('/v1/fixture/open')).status).toBe(200)
  })

  it('is any change without a store', async () => {
    server = await startEdge()
    const body = '{"slug":"new"}'
    const headers = { ...as('psk_admin'), 'Content-Type': 'application/json', 'Content-Length': String(body.length) }
    const answer = await sendRaw(
      server.port,
      requestBytes(`POST /v1/fixture/projects/${PROJECT}/things`, headers, body),
    )
    expect([answer.status, documentOf(answer)['code']]).toEqual([501, 'not_provisioned'])
  })
})
