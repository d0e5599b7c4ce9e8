import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { contract } from '../../../../src/shared/contract/index.ts'
import { clampedPageQuery, KiB, pageQuery, uuidField } from '../../../../src/shared/contract/fields.ts'
import { manifestOf } from '../../../../src/shared/contract/manifest.ts'
import type { ManifestOperation } from '../../../../src/shared/contract/manifest-format.ts'
import { check, open, type AnySchema, type Operation } from '../../../../src/shared/contract/operation.ts'

const bare: Operation = {
  method: 'GET',
  path: '/v1/things',
  summary: 'Look',
  credentials: ['api-token'],
  gate: open('a test'),
  audit: { none: 'a test' },
  responses: { 204: null },
  problems: [],
}

/** The manifest entry of one operation. */
function entryOf(members: Partial<Operation>): ManifestOperation {
  const surface = { name: 'things', summary: 'Things', operations: { Op: { ...bare, ...members } } }
  const entry = manifestOf({ things: surface }).operations['Op']
  if (entry === undefined) throw new Error('the manifest lacks the operation')
  return entry
}

/** The one member of a body with that schema. */
function memberOf(schema: AnySchema) {
  const body = z.strictObject({ a: schema as z.ZodType })
  return entryOf({ method: 'POST', body, bodyBytesMax: KiB }).body?.fields[0]
}

it('is plain JSON: nothing is lost between the build and the command line', () => {
  const manifest = manifestOf(contract)
  expect(JSON.parse(JSON.stringify(manifest))).toEqual(manifest)
  expect([manifest.format, manifest.apiVersion]).toEqual([2, 'v1'])
})

it('names the surfaces in order, and keeps the operations in that of the contract', () => {
  const one = { name: 'zebra', summary: 'Z', operations: { Second: bare, First: bare } }
  const two = { name: 'ant', summary: 'A', operations: { Third: bare } }
  const { surfaces, operations } = manifestOf({ one, two })
  expect(surfaces).toEqual(['ant', 'zebra'])
  expect(Object.keys(operations)).toEqual(['Second', 'First', 'Third'])
  expect(operations['Third']?.surface).toBe('ant')
})

it('holds an operation whole, and leaves out what it does not say', () => {
  expect(entryOf({})).toEqual({
    id: 'Op',
    surface: 'things',
    method: 'GET',
    path: '/v1/things',
    summary: 'Look',
    credentials: ['api-token'],
    access: 'read',
    idempotent: true,
    params: [],
    query: [],
    responses: [{ status: 204, media: null }],
    problems: [
      'datastore_unavailable',
      'internal',
      'invalid_query',
      'overloaded',
      'permission_denied',
      'rate_limited',
      'shutting_down',
      'unauthenticated',
    ],
  })
  const said = {
    description: 'More',
    deprecated: { since: '2026-01-01T00:00:00Z', successor: 'GET /v1/things' },
    cli: { command: 'things look' },
    paging: { limit: 'clamped', cursor: 'caller' },
  } as const
  expect(entryOf(said)).toMatchObject(said)
})

describe('what a token must allow, and what may be repeated', () => {
  it.each([
    ['GET', {}, 'read', true],
    ['POST', {}, 'write', false],
    ['PUT', {}, 'write', true],
    ['PATCH', {}, 'write', false],
    ['DELETE', {}, 'write', true],
    ['POST', { access: 'read', idempotent: true }, 'read', true],
  ] as const)('%s %j', (method, members, access, idempotent) => {
    expect(entryOf({ method, ...members })).toMatchObject({ access, idempotent })
  })
})

describe('path and query members', () => {
  it('are named with what describes them', () => {
    const params = z.strictObject({ id: uuidField('invalid_node_id', 'Node') })
    expect(entryOf({ params, gate: check('read', 'node:{path.id}') }).params).toEqual([
      {
        name: 'id',
        required: true,
        type: 'string',
        format: 'uuid',
        description: 'Node',
      },
    ])
  })

  it('limit has no bounds where the server clamps it', () => {
    const query = z.strictObject(clampedPageQuery)
    const { query: fields } = entryOf({ query, paging: { limit: 'clamped', cursor: 'caller' } })
    expect(fields.find(({ name }) => name === 'limit')).toEqual({
      name: 'limit',
      required: false,
      type: 'integer',
      default: 50,
      description: 'Page size; less than 1 counts as 1, more than 200 as 200; 50 when absent',
    })
  })

  it('limit is a number with bounds where pages are, and a text elsewhere', () => {
    const query = z.strictObject(pageQuery)
    const limitOf = ({ query: fields }: ManifestOperation) => fields.find(({ name }) => name === 'limit')
    expect(limitOf(entryOf({ query, paging: { limit: 'rejected', cursor: 'caller' } }))).toEqual({
      name: 'limit',
      required: false,
      type: 'integer',
      minimum: 1,
      maximum: 200,
      default: 50,
      description: 'Page size, 1 to 200; 50 when absent',
    })
    expect(limitOf(entryOf({ query }))?.type).toBe('string')
  })
})

describe('a body', () => {
  const bodyOf = (body: AnySchema, more: Partial<Operation> = {}) =>
    entryOf({ method: 'POST', body, bodyBytesMax: 2 * KiB, ...more }).body

  it('tells its cap and its media types, the preferred first', () => {
    expect(bodyOf(z.strictObject({ a: z.string() }))).toMatchObject({ bytesMax: 2048, media: ['application/json'] })
    const bodyMedia = ['application/json', 'application/x-www-form-urlencoded'] as const
    expect(bodyOf(z.strictObject({}), { bodyMedia })?.media).toEqual(bodyMedia)
  })

  it('is required unless an empty object would do', () => {
    expect(bodyOf(z.strictObject({ a: z.string() }))?.required).toBe(true)
    expect(bodyOf(z.strictObject({ a: z.string().optional() }))?.required).toBe(false)
    expect(bodyOf(z.strictObject({ a: z.string().default('x') }))?.required).toBe(false)
  })

  it('of several kinds has the members of all, required where all require them', () => {
    const one = z.strictObject({ kind: z.literal('a'), a: z.string() })
    const two = z.strictObject({ kind: z.literal('b'), b: z.string() })
    expect(bodyOf(z.union([one, two]))?.fields.map(({ name, required }) => [name, required])).toEqual([
      ['kind', true],
      ['a', false],
      ['b', false],
    ])
  })

  it.each([
    ['bounds of a text', z.string().min(1).max(9), { type: 'string', minLength: 1, maxLength: 9 }],
    ['bounds of a number', z.int().min(1).max(9), { type: 'integer', minimum: 1, maximum: 9 }],
    ['a fraction', z.number(), { type: 'number' }],
    ['a switch', z.boolean(), { type: 'boolean' }],
    ['a choice', z.enum(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
    [
      'a list',
      z.array(z.string()).min(1).max(2),
      { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string' } },
    ],
    ['an object', z.strictObject({ b: z.boolean() }), { type: 'object', fields: [{ name: 'b', type: 'boolean' }] }],
    ['a map', z.record(z.string(), z.string()), { type: 'object', values: { type: 'string' } }],
    ['null', z.string().nullable(), { type: 'string', nullable: true }],
    ['null or an object', z.strictObject({ b: z.boolean() }).nullable(), { type: 'object', nullable: true }],
    ['null or a choice', z.enum(['a', 'b']).nullable(), { type: 'string', nullable: true, enum: ['a', 'b'] }],
    ['null or a bounded number', z.int().min(1).nullable(), { type: 'integer', nullable: true, minimum: 1 }],
    ['a default', z.string().default('x'), { type: 'string', default: 'x', required: false }],
    ['anything', z.unknown(), { type: 'json' }],
    ['either of two', z.union([z.string(), z.int()]), { type: 'json' }],
  ] as const)('carries %s', (_, schema, member) => {
    expect(memberOf(schema)).toMatchObject(member)
  })
})

describe('answers', () => {
  it('tell their media type, and by path what is shown once', () => {
    const secret = z.string().meta({ 'x-service-write-once': true })
    const shape = z.object({ id: z.string(), token: secret, keys: z.object({ first: secret }) })
    expect(entryOf({ responses: { 201: shape } }).responses).toEqual([
      { status: 201, media: 'application/json', writeOnce: ['token', 'keys.first'] },
    ])
    expect(entryOf({ responses: { 200: { media: 'application/pdf', describe: 'x' } } }).responses).toEqual([
      { status: 200, media: 'application/pdf' },
    ])
    expect(entryOf({ responses: { 200: z.object({}) } }).responses).toEqual([
      { status: 200, media: 'application/json' },
    ])
  })

  it('tell their shape without texts, bounds and choices, so that a client can compare it', () => {
    const shape = z.object({
      id: z.uuid().describe('Which'),
      state: z.enum(['on', 'off']).nullable(),
      tags: z.array(z.string().max(9)).optional(),
    })
    const entry = entryOf({ responses: { 200: shape, 204: null } })
    expect(entry.shapes).toEqual({
      200: {
        type: 'object',
        fields: [
          { name: 'id', required: true, type: 'string' },
          { name: 'state', required: true, type: 'string', nullable: true },
          { name: 'tags', required: false, type: 'array', items: { type: 'string' } },
        ],
      },
    })
    expect(entryOf({ responses: { 204: null } })).not.toHaveProperty('shapes')
  })

  it('of the contract mark every credential that they mint', () => {
    const { operations } = manifestOf(contract)
    const minting = Object.values(operations).filter(({ responses }) => responses.some(({ writeOnce }) => writeOnce))
    expect(minting.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['PostAuthTokens', 'CreateJoinToken', 'RegisterNode', 'PostAdminTokens']),
    )
  })
})
