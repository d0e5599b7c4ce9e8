import { describe, expect, it, test } from 'vitest'
import { z } from 'zod'
import { withCommonMark } from '../../../../src/shared/contract/common-mark.ts'
import { check, defineSurface, open, type Operation } from '../../../../src/shared/contract/operation.ts'
import { manifestOf } from '../../../../src/shared/contract/manifest.ts'
import { openApiOf } from '../../../../src/shared/contract/openapi.ts'
import { tagGroupsOf, tagsOf } from '../../../../src/shared/contract/tags.ts'

const Thing = z.object({ id: z.string().describe('thing:<uuid>') }).meta({ id: 'Thing' })

const seize = {
  method: 'POST',
  path: '/v1/things/seizure',
  summary: 'Seize it',
  credentials: ['api-token'],
  gate: check('manage', 'platform:main'),
  audit: { relation: 'thing.seize', when: 'all' },
  dualControl: { sentence: 'Seize it', actions: ['things.write'], runs: 'server' },
  responses: { 200: Thing },
  problems: [],
} as const satisfies Operation

const things = defineSurface('things', 'Things of a <kind>', {
  PutThing: {
    method: 'PUT',
    path: '/v1/things/{id}',
    summary: 'Put a thing',
    credentials: ['api-token', 'nsk'],
    params: z.strictObject({ id: z.string().describe('Thing') }),
    query: z.strictObject({ dry_run: z.enum(['true', 'false']).optional() }),
    body: z.strictObject({ note: z.string().max(9).default('none') }),
    bodyBytesMax: 512,
    gate: check('manage', 'domain:{path.id}'),
    audit: { relation: 'thing.put', when: 'all' },
    responses: { 200: Thing },
    headers: { Location: 'Where it is' },
    problems: ['slug_conflict'],
    examples: { body: { note: 'a <b>' }, answers: { 200: { id: 'thing:1', description: '<c>' } } },
    sentences: { slug_conflict: 'Another thing has this slug.' },
    deprecated: { since: '2026-01-01T00:00:00Z', sunset: '2027-01-01T00:00:00Z', successor: 'PUT /v2/things/{id}' },
  },
  PostSeizure: seize,
  GetPicture: {
    method: 'GET',
    path: '/v1/things/picture',
    summary: 'See it',
    credentials: [],
    gate: open('a test'),
    audit: { none: 'a test' },
    responses: { 200: { media: 'image/png', describe: 'The picture' } },
    problems: [],
  },
})

type Described = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>
const document = openApiOf({ things })
// The shape is what is asserted.
const paths = document['paths'] as Described
const put = paths['/v1/things/{id}']?.['put'] ?? {}
const picture = paths['/v1/things/picture']?.['get'] ?? {}

describe('an operation in the document', () => {
  it('says who may call it, what is asked of them and what is recorded', () => {
    expect(put).toMatchObject({
      operationId: 'PutThing',
      tags: ['things'],
      summary: 'Put a thing',
      security: [{ apiToken: [] }, { nodeSecretKey: [] }],
      'x-service-scope': 'things:write',
      'x-service-gate': { anyOf: [{ relation: 'manage', object: 'domain:{path.id}' }] },
      'x-service-audit': { relation: 'thing.put', when: 'all' },
    })
    expect(picture['security']).toEqual([])
  })

  it('has its path and query members as parameters', () => {
    expect(put['parameters']).toEqual([
      { name: 'id', in: 'path', required: true, description: 'Thing', schema: { type: 'string' } },
      { name: 'dry_run', in: 'query', required: false, schema: { type: 'string', enum: ['true', 'false'] } },
    ])
  })

  it('takes a body that refuses unknown members, up to its cap', () => {
    const note = { type: 'string', maxLength: 9, default: 'none' }
    const schema = { type: 'object', properties: { note }, additionalProperties: false }
    expect(put['requestBody']).toEqual({
      required: false,
      description: 'At most 512 bytes.',
      content: { 'application/json': { schema, example: { note: 'a <b>' } } },
    })
    expect(put['x-service-body-bytes-max']).toBe(512)
  })

  it('shows the examples of the contract as they are', () => {
    const schema = { $ref: '#/components/schemas/Thing' }
    const example = { id: 'thing:1', description: '<c>' }
    expect(put['responses']).toMatchObject({ 200: { content: { 'application/json': { schema, example } } } })
    expect(JSON.stringify(picture)).not.toContain('"example"')
  })

  it('answers with named schemas or with other media', () => {
    expect(put['responses']).toMatchObject({
      200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } },
    })
    expect(picture['responses']).toMatchObject({
      200: { description: 'The picture', content: { 'image/png': { schema: {} } } },
    })
  })

  it('lists the codes of each status, its own and those that its members imply', () => {
    const responses = put['responses'] as Readonly<Record<string, unknown>>
    expect(Object.keys(responses)).toEqual([
      '200',
      '400',
      '401',
      '403',
      '409',
      '413',
      '415',
      '429',
      '500',
      '503',
      'default',
    ])
    expect(responses).toMatchObject({
      403: { 'x-service-codes': ['permission_denied'] },
      409: { 'x-service-codes': ['slug_conflict'] },
      503: { 'x-service-codes': ['authz_unavailable', 'datastore_unavailable', 'overloaded', 'shutting_down'] },
    })
  })

  it('says each code in the words of the operation, else in those of the catalogue', () => {
    expect(put['responses']).toMatchObject({
      403: { description: '`permission_denied`: The caller lacks the relation that this operation needs.' },
      409: { description: '`slug_conflict`: Another thing has this slug.' },
    })
  })

  it('says of a call that may be held by which action, and what it is answered then', () => {
    const seizure = paths['/v1/things/seizure']?.['post'] ?? {}
    expect(seizure['x-service-dual-control']).toEqual(['things.write'])
    expect(seizure['responses']).toMatchObject({
      200: { content: {} },
      202: {
        headers: {
          Location: { description: 'Path of the approval that the call waits for', schema: { type: 'string' } },
        },
      },
    })
    expect(Object(seizure['responses'])['200'].headers).not.toHaveProperty('Location')
    expect(Object(seizure['responses'])['202']).not.toHaveProperty('content')
    expect(manifestOf({ things }).operations['PostSeizure']?.responses).toEqual([
      { status: 200, media: 'application/json' },
      { status: 202, media: null },
    ])
  })

  it.each([
    ['a read', { ...seize, method: 'GET' }, 'PostSeizure: a read is not held for approval'],
    [
      'a call with a 202 of its own',
      { ...seize, responses: { 202: null } },
      'PostSeizure: 202 is the answer of a held call, and follows from dualControl',
    ],
  ] as const)('%s cannot be held', (_, operation, message) => {
    expect(() => defineSurface('things', 'Things', { PostSeizure: operation })).toThrow(message)
  })

  it('carries the three markers of a deprecation', () => {
    expect(put).toMatchObject({
      deprecated: true,
      'x-service-deprecated-since': '2026-01-01T00:00:00Z',
      'x-service-sunset': '2027-01-01T00:00:00Z',
      'x-service-successor': 'PUT /v2/things/{id}',
    })
    expect(picture).not.toHaveProperty('deprecated')
  })
})

test('only credentials that some operation takes are promised', () => {
  const { securitySchemes } = document['components'] as { readonly securitySchemes: object }
  expect(Object.keys(securitySchemes)).toEqual(['apiToken', 'nodeSecretKey'])
})

test('texts are CommonMark: holes in angle brackets are no tags, code spans stay', () => {
  expect(document['tags']).toEqual([{ name: 'things', 'x-displayName': 'Things', description: 'Things of a \\<kind>' }])
  expect(document).toMatchObject({
    components: { schemas: { Thing: { properties: { id: { description: 'thing:\\<uuid>' } } } } },
  })
  expect(withCommonMark({ description: '* or `<a> *`', other: '<b>', default: ['<c>'] })).toEqual({
    description: '\\* or `<a> *`',
    other: '<b>',
    default: ['<c>'],
  })
})

describe('chapters', () => {
  const surfaces = ['meta', 'nodes', 'join-tokens', 'admin-tokens', 'widgets'].map((name) =>
    defineSurface(name, '', {}),
  )

  it('hold every surface exactly once; those without a chapter are gathered at the end', () => {
    expect(tagGroupsOf(surfaces)).toEqual([
      { name: 'Access', tags: ['admin-tokens'] },
      { name: 'Fleet', tags: ['join-tokens', 'nodes'] },
      { name: 'This API', tags: ['meta'] },
      { name: 'More', tags: ['widgets'] },
    ])
  })

  it('show names for people', () => {
    expect(tagsOf(surfaces).map((tag) => tag['x-displayName'])).toEqual([
      'Contract and documentation',
      'Nodes',
      'Join tokens',
      'Tokens of others',
      'Widgets',
    ])
  })
})
