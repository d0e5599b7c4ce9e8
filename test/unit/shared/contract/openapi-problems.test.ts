import { describe, expect, it, test } from 'vitest'
import { z } from 'zod'
import { check, defineSurface, open, type Operation } from '../../../../src/shared/contract/operation.ts'
import { openApiOf } from '../../../../src/shared/contract/openapi.ts'

const base = {
  credentials: ['api-token'],
  gate: check('manage', 'platform:main'),
  audit: { none: 'a test' },
  responses: { 204: null },
  problems: [],
} as const satisfies Partial<Operation>

const Node: z.ZodType = z
  .object({
    name: z.string(),
    get parts() {
      return z.array(Node)
    },
  })
  .meta({ id: 'Node', description: 'A part of a tree.' })

const things = defineSurface('things', 'Things', {
  PutThing: { ...base, method: 'PUT', path: '/v1/things', summary: 'Put it', problems: ['slug_conflict'] },
  GetTree: { ...base, method: 'GET', path: '/v1/tree', summary: 'Show it', responses: { 200: Node, 201: Node } },
  PostToken: {
    ...base,
    method: 'POST',
    path: '/v1/token',
    summary: 'Exchange it',
    credentials: [],
    gate: open('a test'),
    oauthErrors: true,
    problems: ['invalid_grant'],
  },
  GetStream: {
    ...base,
    method: 'GET',
    path: '/v1/stream',
    summary: 'Follow it',
    responses: { 200: { media: 'text/event-stream', describe: 'Frames', schema: Node, streams: true } },
  },
})

interface Answer {
  readonly description: string
  readonly headers: object
  readonly content: Readonly<Record<string, { readonly schema: object }>>
}
const document = openApiOf({ things })
// The shape is what is asserted.
const paths = document['paths'] as Readonly<
  Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Answer>> }>>>
>
const answer = (path: string, method: string, status: number) => paths[path]?.[method]?.responses[status]
const PROBLEM = 'application/problem+json'

function codes(name: string, ...known: readonly string[]) {
  const code = { anyOf: [{ type: 'string', enum: known }, { type: 'string' }] }
  return { allOf: [{ $ref: `#/components/schemas/${name}` }, { type: 'object', properties: { code } }] }
}

describe('the code of a refusal is an open enumeration', () => {
  it('of the codes of that operation and status', () => {
    expect(answer('/v1/things', 'put', 409)?.content[PROBLEM]?.schema).toEqual(codes('Problem', 'slug_conflict'))
  })

  it('also where only a permission is refused today', () => {
    expect(answer('/v1/tree', 'get', 403)?.content[PROBLEM]?.schema).toEqual({
      anyOf: [{ $ref: '#/components/schemas/PermissionDenied' }, codes('Problem', 'permission_denied')],
    })
  })
})

test('a 401 says that it names how to sign in, and no other status does', () => {
  expect(answer('/v1/things', 'put', 401)?.headers).toHaveProperty('WWW-Authenticate', {
    $ref: '#/components/headers/WWWAuthenticate',
  })
  expect(answer('/v1/things', 'put', 403)?.headers).not.toHaveProperty('WWW-Authenticate')
})

test('an OAuth endpoint refuses in the media type of either RFC', () => {
  const { schema } = answer('/v1/token', 'post', 400)?.content[PROBLEM] ?? {}
  expect(schema).toEqual(codes('OAuthProblem', 'invalid_body', 'invalid_grant', 'invalid_query'))
  expect(answer('/v1/token', 'post', 400)?.content['application/json']?.schema).toEqual(schema)
  expect(answer('/v1/things', 'put', 409)?.content).not.toHaveProperty('application/json')
})

test('a stream of events has the schema of its data', () => {
  expect(answer('/v1/stream', 'get', 200)?.content).toEqual({
    'text/event-stream': { schema: { $ref: '#/components/schemas/Node' } },
  })
})

test('a recursive schema gets no name that was counted', () => {
  const { schemas } = document['components'] as { readonly schemas: object }
  expect(Object.keys(schemas)).toEqual(['Problem', 'PermissionDenied', 'OAuthProblem', 'Node'])
  expect(schemas).toMatchObject({
    Node: { properties: { parts: { type: 'array', items: { $ref: '#/components/schemas/Node' } } } },
  })
})

test('an answer is described by its schema', () => {
  expect(answer('/v1/tree', 'get', 200)?.description).toBe('A part of a tree.')
  expect(answer('/v1/tree', 'get', 201)?.description).toBe('Created. A part of a tree.')
  expect(answer('/v1/things', 'put', 204)?.description).toBe('The call succeeded. The answer has no body.')
})

test('recorded examples replace those of the declaration', () => {
  const recorded = { GetTree: { answers: { 200: { name: 'root', parts: [] } } } }
  expect(openApiOf({ things }, recorded)['paths']).toMatchObject({
    '/v1/tree': {
      get: { responses: { 200: { content: { 'application/json': { example: { name: 'root', parts: [] } } } } } },
    },
  })
})
