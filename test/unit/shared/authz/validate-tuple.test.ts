import { describe, expect, test } from 'vitest'
import { validateTuple, type WrittenTuple } from '../../../../src/shared/authz/validate-tuple.ts'
import { Problem } from '../../../../src/shared/problems.ts'

const ANN = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

function refusal(tuple: WrittenTuple, structural = false): unknown {
  try {
    return validateTuple(tuple, { structural })
  } catch (error) {
    if (error instanceof Problem) return { code: error.code, ...error.extras }
    throw error
  }
}

test('a tuple is taken apart into columns, UUIDs in lower case', () => {
  const tuple = {
    subject: 'group:staff#member',
    relation: 'admin',
    resource: `domain:${ANN.toUpperCase()}`,
    caveatName: 'strong_auth',
  }
  expect(validateTuple(tuple, { structural: false })).toEqual({
    subject_type: 'group',
    subject_id: 'staff',
    subject_relation: 'member',
    relation: 'admin',
    resource_type: 'domain',
    resource_id: ANN,
    caveat_name: 'strong_auth',
  })
})

describe('roles and memberships that the schema has', () => {
  test.each([
    ['user:ann', 'auditor', 'domain:acme', undefined],
    ['user:ann', 'auditor', 'platform:main', undefined],
    ['user:ann', 'maintainer', 'resource:relay', undefined],
    ['serviceaccount:robot', 'operator', 'node:edge', 'from_network'],
    ['group:staff#member', 'deployer', 'project:web', 'within_hours'],
    ['group:night#member', 'member', 'group:staff', undefined],
    ['user:*', 'viewer', 'project:web', undefined],
    ['serviceaccount:*', 'viewer', 'platform:main', undefined],
    ['user:*', 'viewer', 'domain:acme', 'from_network'],
  ])('%s as %s of %s', (subject, relation, resource, caveatName) => {
    const tuple = { subject, relation, resource, ...(caveatName !== undefined && { caveatName }) }
    expect(refusal(tuple)).toMatchObject({ relation })
  })
})

describe('a refusal names the part that is wrong', () => {
  test.each([
    ['user', 'admin', 'domain:acme', 'subject', 'malformed'],
    ['user:', 'admin', 'domain:acme', 'subject', 'malformed'],
    [':ann', 'admin', 'domain:acme', 'subject', 'malformed'],
    ['user:ann boleyn', 'admin', 'domain:acme', 'subject', 'malformed'],
    ['group:staff#', 'admin', 'domain:acme', 'subject', 'malformed'],
    ['group:*#member', 'admin', 'domain:acme', 'subject', 'malformed'],
    ['user:ann', 'admin', 'acme', 'resource', 'malformed'],
    ['user:ann', 'admin', 'domain:*', 'resource', 'malformed'],
    ['user:ann', 'admin', 'domain:acme#admin', 'resource', 'malformed'],
    ['user:ann', 'admin', 'disk:c', 'resource', 'unknown'],
    ['user:ann', 'owner', 'domain:acme', 'relation', 'unknown'],
    ['user:ann', 'manage', 'domain:acme', 'relation', 'unknown'],
    ['user:ann', 'auditor_role', 'domain:acme', 'relation', 'unknown'],
    ['user:ann', 'node-operate', 'node:edge', 'relation', 'unknown'],
    ['robot:r2', 'admin', 'domain:acme', 'subject', 'unknown'],
    ['node:edge', 'admin', 'domain:acme', 'subject', 'not_allowed'],
    ['group:staff', 'admin', 'domain:acme', 'subject', 'not_allowed'],
    ['group:staff#read', 'admin', 'domain:acme', 'subject', 'not_allowed'],
    ['user:*', 'admin', 'domain:acme', 'subject', 'not_allowed'],
    ['user:*', 'auditor', 'platform:main', 'subject', 'not_allowed'],
    ['user:*', 'member', 'group:staff', 'subject', 'not_allowed'],
    ['group:*', 'viewer', 'project:web', 'subject', 'not_allowed'],
  ])('%s as %s of %s: %s %s', (subject, relation, resource, part, reason) => {
    expect(refusal({ subject, relation, resource })).toMatchObject({ code: 'invalid_triple', part, reason })
  })

  test('of an unknown caveat', () => {
    const tuple = { subject: 'user:ann', relation: 'admin', resource: 'domain:acme', caveatName: 'full_moon' }
    expect(refusal(tuple)).toEqual({
      code: 'invalid_triple',
      part: 'caveat',
      reason: 'unknown',
      errors: [{ pointer: '/caveat_context', detail: 'names something that the schema does not have' }],
    })
  })

  test('of a caveat on the platform, which has no settings for it to read', () => {
    const tuple = { subject: 'user:ann', relation: 'admin', resource: 'platform:main', caveatName: 'strong_auth' }
    expect(refusal(tuple)).toMatchObject({ part: 'caveat', reason: 'not_allowed' })
  })
})

describe('parent edges', () => {
  const edge = { subject: 'domain:acme', relation: 'domain', resource: 'node:edge' }

  test('are written by the service', () => {
    expect(refusal(edge, true)).toMatchObject({ relation: 'domain', subject_id: 'acme' })
  })

  test.each([
    ['platform:main', 'platform', 'domain:acme'],
    ['domain:acme', 'domain', 'project:web'],
    ['project:web', 'project', 'resource:relay'],
    ['project:web', 'project', 'network:lan'],
    ['project:web', 'project', 'workload:shop'],
    ['domain:acme', 'domain', 'node:edge'],
    ['project:web', 'project', 'node:edge'],
    ['domain:acme', 'domain', 'user:ann'],
    ['domain:acme', 'domain', 'serviceaccount:robot'],
    ['domain:acme', 'domain', 'group:staff'],
    ['platform:main', 'platform', 'cloud:north'],
    ['project:web', 'consumer', 'cloud:north'],
    ['cloud:north', 'cloud', 'cloudcredential:key'],
    ['project:web', 'uses', 'cloudcredential:key'],
    ['platform:main', 'platform', 'provider_bundle:base'],
    ['platform:main', 'platform', 'labeldefinition:tier'],
    ['domain:acme', 'domain', 'labeldefinition:tier'],
    ['project:web', 'project', 'labeldefinition:tier'],
    ['user:ann', 'owner', 'token:t'],
  ])('are refused from everybody else: %s as %s of %s', (subject, relation, resource) => {
    expect(refusal({ subject, relation, resource })).toEqual({
      code: 'invalid_triple',
      part: 'relation',
      reason: 'structural',
      errors: [{ pointer: '/relation', detail: 'is a parent edge, which only the service writes' }],
    })
    expect(refusal({ subject, relation, resource }, true)).toMatchObject({ relation })
  })

  test('are the only thing that the service writes as such', () => {
    const role = { subject: 'user:ann', relation: 'admin', resource: 'domain:acme' }
    expect(() => validateTuple(role, { structural: true })).toThrow('domain#admin is not structural')
  })
})
