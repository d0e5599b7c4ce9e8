import { expect, test } from 'vitest'
import { z } from 'zod'
import { check, open, type Operation } from '../../../../src/shared/contract/operation.ts'
import { bodyProblemOf, problemCodesOf } from '../../../../src/shared/contract/problem-codes.ts'

/** Open, without members: what is left are the codes that every operation has. */
const bare: Operation = {
  method: 'GET',
  path: '/v1/x',
  summary: 'X',
  credentials: [],
  gate: open('a test'),
  audit: { none: 'a test' },
  responses: { 204: null },
  problems: [],
}
const ALWAYS = ['internal', 'invalid_query', 'shutting_down']
const id = z.string().meta({ problem: 'invalid_token_id' })

test.each<readonly [string, Partial<Operation>, string[]]>([
  ['nothing', {}, []],
  ['what it declares', { problems: ['slug_conflict'] }, ['slug_conflict']],
  ['an API token', { credentials: ['api-token'] }, ['datastore_unavailable', 'permission_denied', 'unauthenticated']],
  ['a node secret key', { credentials: ['nsk'] }, ['datastore_unavailable', 'nsk_revoked', 'unauthenticated']],
  [
    'a 401 of its own',
    { credentials: ['nsk'], unauthenticated: 'unauthorized' },
    ['datastore_unavailable', 'nsk_revoked', 'unauthorized'],
  ],
  ['a gate', { gate: check('read', 'platform:main') }, ['authz_unavailable', 'permission_denied']],
  ['rows that are filtered', { gate: { ...open('x'), rows: check('a', 'b:c').anyOf[0] } }, ['authz_unavailable']],
  [
    'a folded gate over a row',
    { gate: { ...check('read', '{row.object}'), fold: 'token_not_found', missingRow: 'node_not_found' } },
    ['authz_unavailable', 'node_not_found', 'permission_denied', 'token_not_found'],
  ],
  ['a path member', { params: z.strictObject({ id }) }, ['invalid_path', 'invalid_token_id']],
  ['an optional query member', { query: z.strictObject({ id: id.optional() }) }, ['invalid_token_id']],
  [
    'a body with a list of objects',
    { method: 'POST', body: z.strictObject({ all: z.array(z.strictObject({ id })) }), bodyBytesMax: 9 },
    ['invalid_body', 'invalid_token_id', 'request_body_too_large', 'unsupported_media_type'],
  ],
  [
    'an over-cap code of its own',
    { method: 'POST', body: z.strictObject({}), bodyBytesMax: 9, overCap: 'invalid_scope' },
    ['invalid_body', 'invalid_scope', 'unsupported_media_type'],
  ],
  [
    'no body, where one could be sent',
    { method: 'DELETE' },
    ['invalid_body', 'request_body_too_large', 'unsupported_media_type'],
  ],
  ['cursors for anybody', { paging: { limit: 'rejected', cursor: 'operation' } }, ['invalid_cursor']],
  [
    'cursors bound to their caller',
    { paging: { limit: 'clamped', cursor: 'caller' } },
    ['cursor_binding_mismatch', 'invalid_cursor'],
  ],
  ['collaborators that may be missing', { notProvisioned: 'authz_not_provisioned' }, ['authz_not_provisioned']],
])('%s brings its codes', (_, members, codes) => {
  expect(problemCodesOf({ ...bare, ...members })).toEqual([...ALWAYS, ...codes].toSorted())
})

test('a body that is wrong as a whole is the problem that its schema declares, else invalid_body', () => {
  expect(bodyProblemOf({ ...bare, body: z.strictObject({}).meta({ problem: 'invalid_triple' }) })).toBe(
    'invalid_triple',
  )
  expect(bodyProblemOf({ ...bare, body: z.strictObject({}) })).toBe('invalid_body')
})
