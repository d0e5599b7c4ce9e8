import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { uuidField } from '../../../../src/shared/contract/fields.ts'
import { check, open, type Operation } from '../../../../src/shared/contract/operation.ts'
import { bodyProblemOf, problemCodesOf } from '../../../../src/shared/contract/problem-codes.ts'

/** Open, without parameters or body. */
const bare: Operation = {
  method: 'GET',
  path: '/v1/things',
  summary: 'Look',
  credentials: [],
  gate: open('a test'),
  audit: { none: 'a test' },
  responses: { 200: null },
  problems: [],
}

const BARE = ['internal', 'invalid_query', 'overloaded', 'shutting_down']

/** Codes beyond those that every operation has. */
function added(members: Partial<Operation>): readonly string[] {
  return problemCodesOf({ ...bare, ...members }).filter((code) => !BARE.includes(code))
}

const Id = uuidField('invalid_node_id', 'Node')
const BODY = ['invalid_body', 'request_body_too_large', 'unsupported_media_type']

describe('the problem codes of an operation', () => {
  it('are few where it is open and takes nothing', () => {
    expect(problemCodesOf(bare)).toEqual(BARE)
  })

  it('are those it declares too, each once and in order', () => {
    expect(added({ problems: ['token_not_found', 'slug_conflict', 'token_not_found'] })).toEqual([
      'slug_conflict',
      'token_not_found',
    ])
  })

  const rows: readonly (readonly [string, Partial<Operation>, readonly string[]])[] = [
    [
      'a token',
      { credentials: ['api-token'] },
      ['datastore_unavailable', 'permission_denied', 'rate_limited', 'unauthenticated'],
    ],
    [
      'a node key',
      { credentials: ['nsk'] },
      [
        'datastore_unavailable',
        'nsk_revoked',
        'per_domain_rate_limited',
        'per_node_rate_limited',
        'rate_limited',
        'unauthenticated',
      ],
    ],
    [
      'a join token',
      { credentials: ['join-token'] },
      ['datastore_unavailable', 'invalid_join_token', 'permission_denied', 'rate_limited', 'unauthenticated'],
    ],
    [
      'a session that reads',
      { credentials: ['session'] },
      ['datastore_unavailable', 'rate_limited', 'unauthenticated'],
    ],
    [
      'a session that changes',
      { credentials: ['session'], method: 'DELETE' },
      ['datastore_unavailable', ...BODY, 'origin_not_allowed', 'rate_limited', 'unauthenticated'].toSorted(),
    ],
    [
      'a 401 of its own',
      { credentials: ['nsk'], unauthenticated: 'unauthorized' },
      [
        'datastore_unavailable',
        'nsk_revoked',
        'per_domain_rate_limited',
        'per_node_rate_limited',
        'rate_limited',
        'unauthorized',
      ],
    ],
    ['a gate', { gate: check('read', 'platform:main') }, ['authz_unavailable', 'permission_denied']],
    [
      'a gate that needs all of its legs',
      { gate: { allOf: [{ relation: 'read', object: 'platform:main' }] } },
      ['authz_unavailable', 'permission_denied'],
    ],
    [
      'a filter of rows',
      { gate: { ...open('x'), rows: { relation: 'read', object: '{row.id}' } } },
      ['authz_unavailable'],
    ],
    [
      'an owner who alone is admitted',
      { gate: { own: '{row.owner}', denial: { relation: 'own', object: '{row.id}' } } },
      ['permission_denied'],
    ],
    [
      'an owner whose denial is folded for strangers',
      {
        gate: {
          own: '{row.owner}',
          denial: { relation: 'own', object: '{row.id}' },
          fold: 'node_not_found',
          foldUnless: [{ relation: 'read', object: '{row.id}' }],
        },
      },
      ['authz_unavailable', 'node_not_found', 'permission_denied'],
    ],
    [
      'a filter of rows that have owners',
      { gate: { ...open('x'), own: '{row.owner}', rows: [{ relation: 'read', object: '{row.id}' }] } },
      ['authz_unavailable'],
    ],
    ['a step-up', { gate: { ...open('x'), stepUp: 'strong' } }, ['step_up_required']],
    [
      'a denial that is folded',
      { gate: { ...check('read', 'platform:main'), fold: 'node_not_found' } },
      ['authz_unavailable', 'node_not_found', 'permission_denied'],
    ],
    [
      'a row that may be missing',
      { gate: { ...check('read', '{row.id}'), missingRow: 'token_not_found' } },
      ['authz_unavailable', 'permission_denied', 'token_not_found'],
    ],
    [
      "a node's own path",
      { gate: { ...open('x'), ownNode: { param: 'id', mismatch: 'node_id_mismatch' } } },
      ['node_id_mismatch'],
    ],
    ['path members', { params: z.strictObject({ id: Id }) }, ['invalid_node_id', 'invalid_path']],
    ['query members', { query: z.strictObject({ id: Id.optional() }) }, ['invalid_node_id']],
    ['pages', { paging: { limit: 'rejected', cursor: 'operation' } }, ['invalid_cursor']],
    [
      'pages that are bound to callers',
      { paging: { limit: 'clamped', cursor: 'caller' } },
      ['cursor_binding_mismatch', 'invalid_cursor'],
    ],
    ['no body, where one may be sent all the same', { method: 'POST' }, BODY],
    [
      'a body',
      { method: 'POST', body: z.strictObject({ id: Id }), bodyBytesMax: 1 },
      [...BODY, 'invalid_node_id'].toSorted(),
    ],
    [
      'a body that may be large',
      { method: 'POST', body: z.strictObject({}), bodyBytesMax: 8 * 1024 + 1 },
      [...BODY, 'too_many_bodies'].toSorted(),
    ],
    [
      'a cap with a code of its own',
      { method: 'POST', body: z.strictObject({}), bodyBytesMax: 1, overCap: 'invalid_body' },
      ['invalid_body', 'unsupported_media_type'],
    ],
    ['what may not be wired', { notProvisioned: 'heartbeat_not_provisioned' }, ['heartbeat_not_provisioned']],
  ]
  it.each(rows)('follow from %s', (_, members, codes) => {
    expect(added(members)).toEqual(codes)
  })

  const declared = z.string().meta({ problem: 'invalid_kind' })
  it.each([
    ['an optional member', z.strictObject({ a: declared.optional() })],
    ['a member that may be null', z.strictObject({ a: declared.nullable() })],
    ['a member with a default', z.strictObject({ a: declared.default('x') })],
    ['a member of a member', z.strictObject({ a: z.strictObject({ b: declared }) })],
    ['items of a list', z.strictObject({ a: z.array(declared) })],
    ['one of several bodies', z.union([z.strictObject({}), z.strictObject({ a: declared })])],
    ['a member that is transformed', z.strictObject({ a: declared.transform(Number) })],
  ])('are found in %s of a body', (_, body) => {
    expect(added({ method: 'POST', body, bodyBytesMax: 1 })).toContain('invalid_kind')
  })
})

describe('the problem of a body that is wrong as a whole', () => {
  it('is its own where it declares one, else invalid_body', () => {
    expect(bodyProblemOf({ ...bare, body: z.strictObject({}).meta({ problem: 'invalid_service_identity' }) })).toBe(
      'invalid_service_identity',
    )
    expect(bodyProblemOf({ ...bare, body: z.strictObject({}) })).toBe('invalid_body')
    expect(bodyProblemOf(bare)).toBe('invalid_body')
  })
})
