import { afterEach, describe, expect, it } from 'vitest'
import type { Authorizer } from '../../../src/server/ports/authorizer.ts'
import { permissive, startEdge, type Edge } from '../../support/server/edge.ts'
import { ELSEWHERE, HOME, PROJECT, SUBJECTS } from '../../support/server/fixture-callers.ts'
import { requestBytes, sendRaw, type RawAnswer } from '../../support/network/raw-socket.ts'

const THING = '01935b5e-8f3a-7c61-9d0a-000000001000'

let server: Edge
afterEach(() => server.app.drain(100))

/** Questions that the authorizer was asked, in order. */
let asked: string[] = []

/** Starts an edge whose authorizer grants all but these relations, with one thing, which has that owner. */
async function startWithout(missing: string | readonly string[] | undefined, owner?: string): Promise<void> {
  asked = []
  const refused = [missing].flat()
  const check: Authorizer['check'] = ({ relation, resource }) => {
    asked.push(`${relation} ${resource}`)
    return refused.includes(relation)
      ? { allowed: false, reason: 'insufficient_relation' }
      : { allowed: true, path: [] }
  }
  server = await startEdge({ authorizer: { ...permissive, check } })
  server.fixture.things.push({
    id: THING,
    project_id: PROJECT,
    slug: 'thing',
    created_at: '2026-03-01T08:00:00.000Z',
    ...(owner !== undefined && { owner }),
  })
}

function send(line: string, body: object, token = 'psk_admin'): Promise<RawAnswer> {
  const text = JSON.stringify(body)
  const headers = { 'Content-Type': 'application/json', 'Content-Length': String(text.length) }
  return sendRaw(server.port, requestBytes(line, { Authorization: `Bearer ${token}`, ...headers }, text))
}

const withoutId = ({ correlation_id: _id, ...document }: Readonly<Record<string, unknown>>) => document

const documentOf = ({ text }: RawAnswer): Readonly<Record<string, unknown>> => JSON.parse(text)

describe('a gate that needs all of its legs', () => {
  const put = () => send(`PUT /v1/fixture/projects/${PROJECT}/things/thing/label`, { label: 'x' })

  it('asks each of them and admits', async () => {
    await startWithout(undefined)
    expect((await put()).status).toBe(204)
    expect(asked).toEqual([`read project:${PROJECT}`, `operate domain:${HOME}`])
  })

  it.each([
    ['read', `project:${PROJECT}`],
    ['operate', `domain:${HOME}`],
  ])('refuses who lacks %s, and names it in the answer and the audit row', async (relation, object) => {
    await startWithout(relation)
    const answer = await put()
    expect(answer.status).toBe(403)
    expect(documentOf(answer)['missing_relation']).toMatchObject({ relation, object })
    expect(server.audited).toMatchObject([
      { outcome: 'permission_denied', object, context: { missing_relation: relation } },
    ])
  })

  it('asks each leg as early as it can: what the path decides comes before the body and the row', async () => {
    await startWithout('read')
    const answer = await send(`PUT /v1/fixture/projects/${PROJECT}/things/unknown/label`, { label: '' })
    expect(answer.status).toBe(403)
    expect(asked).toEqual([`read project:${PROJECT}`])
  })

  it('tells who holds the leg of the path that the row is not there', async () => {
    await startWithout('operate')
    const answer = await send(`PUT /v1/fixture/projects/${PROJECT}/things/unknown/label`, { label: 'x' })
    expect([answer.status, documentOf(answer)['code']]).toEqual([404, 'resource_not_found'])
  })
})

describe('a gate of which one leg is enough', () => {
  const remove = () => send(`DELETE /v1/fixture/things/${THING}`, {})

  it.each([
    [undefined, 'project'],
    ['manage', 'domain'],
  ])('says in the audit row which leg granted: without %s the one of the %s', async (missing, name) => {
    await startWithout(missing)
    expect((await remove()).status).toBe(204)
    expect(server.audited).toMatchObject([{ outcome: 'granted', context: { granted_by: name } }])
  })

  it('names no leg where none granted', async () => {
    await startWithout(['manage', 'operate'])
    expect((await remove()).status).toBe(403)
    expect(server.audited).toMatchObject([{ object: `project:${PROJECT}`, context: { missing_relation: 'deploy' } }])
    expect(server.audited[0]?.context).not.toHaveProperty('granted_by')
  })
})

describe('a gate that an owner passes', () => {
  const NOBODY = SUBJECTS.nobody
  const post = (path: string, token: string) => send(`POST /v1/fixture/things/${THING}/${path}`, {}, token)

  it.each(['hand-over', 'withdrawal'])('asks nothing of the owner: %s', async (path) => {
    await startWithout('manage', NOBODY)
    expect((await post(path, 'psk_nobody')).status).toBe(204)
    expect(asked).toEqual([])
  })

  it('asks the relation that the row names of anybody else', async () => {
    await startWithout(undefined, NOBODY)
    expect((await post('hand-over', 'psk_admin')).status).toBe(204)
    expect(asked).toEqual([`manage project:${PROJECT}`])
  })

  it('admits nobody to a thing that has no owner', async () => {
    await startWithout(undefined)
    expect((await post('withdrawal', 'psk_nobody')).status).toBe(403)
  })

  it.each([
    ['hand-over', 'manage', `project:${PROJECT}`],
    ['withdrawal', 'own', `resource:${THING}`],
  ])('refuses whoever may see it openly: %s', async (path, relation, object) => {
    await startWithout('manage', NOBODY)
    const answer = await post(path, 'psk_admin')
    expect([answer.status, documentOf(answer)['code']]).toEqual([403, 'permission_denied'])
    expect(documentOf(answer)['missing_relation']).toMatchObject({ relation, object })
    expect(asked).toContain(`read project:${PROJECT}`)
  })

  it.each(['hand-over', 'withdrawal'])('answers strangers as for an unknown id: %s', async (path) => {
    await startWithout(['manage', 'read'], NOBODY)
    const answer = await post(path, 'psk_admin')
    const unknown = await send(`POST /v1/fixture/things/${ELSEWHERE}/${path}`, {})
    expect([answer.status, documentOf(answer)['code']]).toEqual([404, 'resource_not_found'])
    expect(withoutId(documentOf(unknown))).toEqual(withoutId(documentOf(answer)))
    expect(server.audited[0]).toMatchObject({ outcome: 'permission_denied', object: `resource:${THING}` })
  })

  it.each([
    ['one of the legs', ['read'], undefined, [THING]],
    ['another of the legs', ['manage'], undefined, [THING]],
    ['none, as its owner', ['read', 'manage'], SUBJECTS.admin, [THING]],
    ['none', ['read', 'manage'], NOBODY, []],
  ])('shows rows to whoever holds %s', async (_, missing, owner, ids) => {
    await startWithout(missing, owner)
    const { text } = await send('GET /v1/fixture/shared-things', {})
    expect(JSON.parse(text).items.map(({ id }: { id: string }) => id)).toEqual(ids)
  })
})

describe('a call that an approval policy may hold', () => {
  const post = (body: object) => send('POST /v1/fixture/takeover', body)

  it('is answered with 202, no body and the path of its approval', async () => {
    await startWithout(undefined)
    const { status, text, headers } = await post({ held: true })
    expect({ status, text, location: headers['location'] }).toEqual({
      status: 202,
      text: '',
      location: '/v1/approvals/01935b5e-8f3a-7c61-9d0a-0000000000a1',
    })
  })

  it('is answered with its success where it is not held', async () => {
    await startWithout(undefined)
    const answer = await post({})
    expect([answer.status, documentOf(answer)]).toEqual([200, { taken: 1 }])
  })
})

describe('a gate over a fixed object that runs after the body', () => {
  const post = (body: object) => send(`POST /v1/fixture/things/${THING}/acknowledgement`, body)

  it('lets the body be refused first', async () => {
    await startWithout('read')
    const answer = await post({ reason: '' })
    expect([answer.status, documentOf(answer)['code']]).toEqual([400, 'invalid_body'])
    expect(asked).toEqual([])
  })

  it('refuses then', async () => {
    await startWithout('read')
    expect((await post({ reason: 'x' })).status).toBe(403)
    expect(server.audited).toMatchObject([{ outcome: 'permission_denied', object: 'platform:main' }])
  })

  it('admits then', async () => {
    await startWithout(undefined)
    expect((await post({ reason: 'x' })).status).toBe(204)
    expect(asked).toEqual(['read platform:main'])
  })
})

describe('a gate whose object a member of the body chooses', () => {
  const PLATFORM = { scope: 'platform' }
  const OF_PROJECT = { scope: 'project', project_id: PROJECT }

  it.each([
    [PLATFORM, 'manage', 'platform:main'],
    [OF_PROJECT, 'read', `project:${PROJECT}`],
  ])('asks about that object alone: %j', async (body, relation, object) => {
    await startWithout(relation)
    const answer = await send('POST /v1/fixture/definitions', body)
    expect(answer.status).toBe(403)
    expect(documentOf(answer)['missing_relation']).toMatchObject({ relation, object })
    expect(asked).toEqual([`${relation} ${object}`])
    expect(server.audited).toMatchObject([{ object }])
  })

  it.each([
    [PLATFORM, 'read'],
    [OF_PROJECT, 'manage'],
  ])('does not ask about the other one: %j', async (body, missing) => {
    await startWithout(missing)
    expect((await send('POST /v1/fixture/definitions', body)).status).toBe(204)
  })
})
