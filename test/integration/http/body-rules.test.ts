import { afterAll, beforeAll, expect, it } from 'vitest'
import { startEdge, type Edge } from '../../support/server/edge.ts'

let server: Edge
beforeAll(async () => {
  server = await startEdge()
})
afterAll(() => server.app.drain(100))

const post = async (body: unknown) => {
  const answer = await fetch(`http://127.0.0.1:${server.port}/v1/fixture/ruled`, {
    method: 'POST',
    headers: { authorization: 'Bearer psk_admin', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  const { code, errors, fields } = text === '' ? {} : JSON.parse(text)
  return { status: answer.status, code, errors, fields }
}

const COMBINED = 'must not be combined'

it.each([
  ['a rule over two members', { left: 'a', right: [] }, 'invalid_cloud_provider_mode', ['left', 'right']],
  ['a rule before shapes', { left: 7, right: 7, name: 7 }, 'invalid_cloud_provider_mode', ['left', 'right']],
  [
    'a rule before a member that decides',
    { left: 7, right: 7, key: 7 },
    'invalid_cloud_provider_mode',
    ['left', 'right'],
  ],
  [
    'a rule before an unknown member',
    { left: 'a', right: [], no: 1 },
    'invalid_cloud_provider_mode',
    ['left', 'right'],
  ],
  ['a member that decides before one that comes first', { name: 7, key: 7 }, 'invalid_kind', undefined],
  ['an unknown member', { left: 'a', no: 1 }, 'invalid_body', undefined],
  ['no object', [], 'invalid_body', undefined],
  ['a member of a wrong shape, and names it', { name: 'long', left: 7 }, 'invalid_provider_bundle', ['name']],
  ['a late member', { left: 'long' }, 'invalid_cloud', ['left']],
  ['a late member, inside', { right: [{ at: 1 }, { at: 'x' }, { no: 1 }] }, 'invalid_cloud', ['right']],
])('a body is refused for %s', async (_, body, code, fields) => {
  expect(await post(body)).toMatchObject({ status: 400, code, fields })
})

it('names the place inside a late member, and the rule for each member', async () => {
  expect((await post({ right: [{ at: 'x' }] })).errors).toEqual([
    { pointer: '/right/0/at', detail: 'must be of type number' },
  ])
  expect((await post({ left: 'a', right: [] })).errors).toEqual([
    { pointer: '/left', detail: COMBINED },
    { pointer: '/right', detail: COMBINED },
  ])
})

it('lets the handler refuse before late shapes are judged', async () => {
  expect(await post({ name: 'out', left: 'long' })).toMatchObject({ status: 404, code: 'resource_not_found' })
})

it('takes a body that breaks no rule', async () => {
  expect((await post({ left: 'abc', key: 'abc' })).status).toBe(204)
})
