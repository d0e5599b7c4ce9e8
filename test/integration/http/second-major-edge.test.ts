import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Rates } from '../../../src/server/ports/rates.ts'
import { mounted } from '../../../src/server/http/request-context.ts'
import { createMeta } from '../../../src/server/slices/meta/service.ts'
import { meta } from '../../../src/shared/contract/meta.ts'
import type { Surface } from '../../../src/shared/contract/operation.ts'
import { createUuidV7 } from '../../../src/server/adapters/system/uuid-v7.ts'
import { startEdge, type Edge } from '../../support/server/edge.ts'
import { PROJECT } from '../../support/server/fixture-callers.ts'
import { fixture } from '../../support/server/fixture-contract.ts'
import { createFixture, type FixtureThings } from '../../support/server/fixture-handlers.ts'
import { atV2 } from '../../support/server/second-major.ts'
import { requestBytes } from '../../support/network/raw-socket.ts'
import { openRawStream } from '../../support/network/raw-stream.ts'

const NO_LIMIT = { count: 0, seconds: 1 }
const RATES: Rates = {
  failedCredentials: NO_LIMIT,
  signIn: NO_LIMIT,
  serviceTokens: NO_LIMIT,
  registrations: NO_LIMIT,
  node: NO_LIMIT,
  domain: NO_LIMIT,
  writes: NO_LIMIT,
  reads: NO_LIMIT,
}
const FIRST = 'current=v1, latest=v2'
const SECOND = 'current=v2, latest=v2'

/** Those of the first edge. */
let things: FixtureThings
const edges: Edge[] = []

/** The fixture at `/v1` and at `/v2`, over the same things. */
async function start(rates: Partial<Rates> = {}): Promise<Edge> {
  const clock = { now: () => Date.parse('2026-03-01T08:00:00.000Z') }
  const made = createFixture({ clock, ids: createUuidV7(clock) })
  if (edges.length === 0) things = made
  const first = mounted(fixture, made.handlers)
  const second = atV2(first)
  const contractOf = (operations: Surface['operations']) => ({ fixture: { ...fixture, operations } })
  const metaOf = (operations: Surface['operations']) =>
    mounted(meta, createMeta({ contract: contractOf(operations), renderer: Buffer.from('/* drawn */') }))
  const surfaces = [first, second, metaOf(first.operations), atV2(metaOf(second.operations))]
  const edge = await startEdge({ surfaces, rates: { ...RATES, ...rates } })
  edges.push(edge)
  return edge
}

let edge: Edge
beforeAll(async () => void (edge = await start()))
afterAll(() => Promise.all(edges.map(({ app }) => app.drain(1_000))))

interface Asking extends Omit<RequestInit, 'headers'> {
  readonly as?: string
  readonly headers?: Readonly<Record<string, string>>
}

async function ask(path: string, init: Asking = {}, at = edge) {
  const { as = 'psk_admin', ...rest } = init
  const headers = { ...(as !== '' && { authorization: `Bearer ${as}` }), ...rest.headers }
  const response = await fetch(`http://127.0.0.1:${at.port}${path}`, { redirect: 'manual', ...rest, headers })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  return {
    status: response.status,
    version: response.headers.get('x-service-api-version'),
    headers: response.headers,
    text,
    body: isJson ? (JSON.parse(text) as Readonly<Record<string, unknown>>) : {},
  }
}

describe('each version names itself and the latest', () => {
  it.each([
    ['a success', '/v1/fixture/old', '/v2/fixture/old', 200, {}],
    ['a 401', '/v1/fixture/old', '/v2/fixture/old', 401, { as: '' }],
    ['a path that no operation has', '/v1/nothing', '/v2/nothing', 404, {}],
    ['such a path without a credential', '/v1/nothing', '/v2/nothing', 401, { as: '' }],
    ['another method', '/v1/fixture/old', '/v2/fixture/old', 405, { method: 'DELETE' }],
  ])('in %s', async (_title, first, second, status, init) => {
    const answers = [await ask(first, init), await ask(second, init)]
    expect(answers.map((answer) => [answer.status, answer.version])).toEqual([
      [status, FIRST],
      [status, SECOND],
    ])
    const [v1, v2] = answers.map(({ body, headers }) => ({
      document: { ...body, correlation_id: '' },
      media: headers.get('content-type'),
    }))
    expect(v2).toEqual(v1)
  })

  it('outside of both the latest is the current one, and a version that is not served is no part of the API', async () => {
    expect(await ask('/elsewhere', { as: '' })).toMatchObject({ status: 404, version: SECOND })
    expect(await ask('/v3/fixture/old', { as: '' })).toMatchObject({ status: 404, version: SECOND })
  })

  it('in the answer to bytes that are no request', async () => {
    const stream = await openRawStream(edge.port)
    stream.send('nonsense\r\n\r\n')
    await expect.poll(stream.text, { timeout: 10_000 }).toContain(`X-Service-API-Version: ${SECOND}`)
  })

  it('in the answer to a request that can be read in two ways, by its path', async () => {
    for (const [path, version] of [
      ['/v1/fixture/old', FIRST],
      ['/v2/fixture/old', SECOND],
    ] as const) {
      const stream = await openRawStream(edge.port)
      stream.send(requestBytes(`GET ${path}`, { 'Transfer-Encoding': 'gzip' }))
      await expect.poll(stream.text, { timeout: 10_000 }).toMatch(/\}$/)
      expect(stream.text()).toContain(`X-Service-API-Version: ${version}`)
    }
  })
})

describe('what is one for both', () => {
  it('things: what is made through one is there in the other', async () => {
    const body = { headers: { 'content-type': 'application/json' }, method: 'POST' }
    things.things.push({ id: '01935b5e-8f3a-7c61-9d0a-0000000000b1', project_id: PROJECT, slug: 'a', created_at: 'x' })
    const [v1, v2] = [await ask('/v1/fixture/things'), await ask('/v2/fixture/things')]
    expect(v2.body).toEqual(v1.body)
    const taken = await ask('/v2/fixture/takeover', { ...body, body: '{"held":true}' })
    expect([taken.status, taken.headers.get('location')]).toEqual([
      202,
      '/v2/approvals/01935b5e-8f3a-7c61-9d0a-0000000000a1',
    ])
  })

  it('audit relations', async () => {
    edge.audited.splice(0)
    await ask('/v1/fixture/old')
    await ask('/v2/fixture/old')
    const said = edge.audited.map(({ relation, object, outcome }) => ({ relation, object, outcome }))
    expect(said).toEqual([
      { relation: 'fixture.old', object: 'platform:main', outcome: 'granted' },
      { relation: 'fixture.old', object: 'platform:main', outcome: 'granted' },
    ])
  })

  it('rate limits: calls of one count against those of the other', async () => {
    const limited = await start({ reads: { count: 2, seconds: 60 } })
    const statuses = []
    for (const path of ['/v1/fixture/old', '/v2/fixture/old', '/v1/fixture/old', '/v2/fixture/old'])
      statuses.push((await ask(path, {}, limited)).status)
    expect(statuses).toEqual([200, 200, 429, 429])
  })

  it('cookies of the API, which each version has at its own path', async () => {
    const { headers } = await ask('/v1/fixture/return?state=x', { as: '' })
    expect(headers.getSetCookie()).toEqual([
      'been=1; Path=/v1/; SameSite=Lax; HttpOnly',
      'been=1; Path=/v2/; SameSite=Lax; HttpOnly',
      'gone=; Path=/v1/; SameSite=Strict; Max-Age=0',
      'gone=; Path=/v2/; SameSite=Strict; Max-Age=0',
    ])
  })
})

describe('what each has for itself', () => {
  it('its document and the page that shows it', async () => {
    for (const major of ['v1', 'v2']) {
      const { body } = await ask(`/${major}/openapi.json`)
      const paths = Object.keys(body['paths'] as object)
      expect([body['info'], paths.every((path) => path.startsWith(`/${major}/`))]).toMatchObject([
        { version: major },
        true,
      ])
      const page = await ask(`/${major}/docs`, { as: '' })
      expect(page.text).toContain(`<script src="/${major}/docs/assets/`)
      expect((await ask(`/${major}/docs/assets/none.js`, { as: '' })).body['code']).toBe('not-found')
    }
  })

  it('cursors: one of v1 is refused in v2', async () => {
    const more = ['b2', 'b3'].map((end) => `01935b5e-8f3a-7c61-9d0a-0000000000${end}`)
    for (const id of more) things.things.push({ id, project_id: PROJECT, slug: id, created_at: 'x' })
    const { body } = await ask('/v1/fixture/things?limit=1')
    const cursor = encodeURIComponent(String(body['next_cursor']))
    expect((await ask(`/v1/fixture/things?limit=1&cursor=${cursor}`)).status).toBe(200)
    const refused = await ask(`/v2/fixture/things?limit=1&cursor=${cursor}`)
    expect([refused.status, refused.body['code']]).toEqual([400, 'invalid_cursor'])
  })
})
