import { describe, expect, test } from 'vitest'
import { UndecidableError } from '../../../../../../src/shared/authz/engine/undecidable.ts'
import { createLookups } from '../../../../../../src/shared/authz/engine/lookup/lookups.ts'
import { UNKNOWN, YES } from '../../../../../../src/shared/authz/engine/verdict.ts'
import { SERVICE_MODEL } from '../../../../../../src/shared/authz/service-model.ts'
import { PARENT_EDGES } from '../../../../../support/authz/tree.ts'
import { engineOf, tuple } from '../../../../../support/authz/tuples.ts'

const unknown = () => UNKNOWN

function service(...tuples: string[]) {
  const engine = engineOf(SERVICE_MODEL, [...PARENT_EDGES, ...tuples])
  return { ...engine, ...createLookups(engine) }
}

describe('lookups of resources', () => {
  test('follow groups, parents and permissions from the subject upwards', () => {
    const { resources } = service('domain:acme#operator@group:staff#member', 'group:staff#member@user:ann')
    const asking = { subject: 'user:ann', relation: 'deploy', resourceType: 'project' }
    expect(resources(asking, unknown)).toEqual({ granted: ['project:web'], conditional: [] })
  })

  test('come in the order of the revision that made the first tuple of each, then by id', () => {
    const engine = engineOf(SERVICE_MODEL, [])
    const written = [
      ['domain:late#admin@user:ann', 9],
      ['domain:b#admin@user:ann', 4],
      ['domain:a#admin@user:ann', 4],
      ['domain:early#viewer@user:bob', 2],
      ['domain:early#admin@user:ann', 8],
    ] as const
    for (const [text, revision] of written) engine.index.touch(tuple(text), revision)
    const asking = { subject: 'user:ann', relation: 'manage', resourceType: 'domain' }
    expect(createLookups(engine).resources(asking, unknown)).toEqual({
      granted: ['domain:early', 'domain:a', 'domain:b', 'domain:late'],
      conditional: [],
    })
  })

  test('tell apart what depends on a condition', () => {
    const { resources } = service('domain:acme#admin@user:ann[strong_auth]', 'project:web#admin@user:ann')
    const asking = { subject: 'user:ann', relation: 'manage', resourceType: 'resource' }
    expect(resources(asking, unknown)).toEqual({ granted: ['resource:relay'], conditional: [] })
    const domains = { subject: 'user:ann', relation: 'manage', resourceType: 'domain' }
    expect(resources(domains, unknown)).toEqual({ granted: [], conditional: ['domain:acme'] })
    expect(resources(domains, () => YES)).toEqual({ granted: ['domain:acme'], conditional: [] })
  })

  test('find what a stranger has through a wildcard, and on itself', () => {
    const { resources } = service('project:web#viewer@user:*')
    const projects = { subject: 'user:zoe', relation: 'read', resourceType: 'project' }
    expect(resources(projects, unknown)).toEqual({ granted: ['project:web'], conditional: [] })
    const users = { subject: 'user:zoe', relation: 'read', resourceType: 'user' }
    expect(resources(users, unknown)).toEqual({ granted: ['user:zoe'], conditional: [] })
  })

  test('may be asked for a set', () => {
    const { resources } = service('domain:acme#operator@group:staff#member')
    const asking = { subject: 'group:staff#member', relation: 'operate', resourceType: 'domain' }
    expect(resources(asking, unknown)).toEqual({ granted: ['domain:acme'], conditional: [] })
  })

  test.each([
    ['a type', { subject: 'user:ann', relation: 'read', resourceType: 'disk' }, 'resource', 'unknown'],
    ['a relation', { subject: 'user:ann', relation: 'fly', resourceType: 'node' }, 'relation', 'unknown'],
    ['a type of subject', { subject: 'robot:x', relation: 'read', resourceType: 'node' }, 'subject', 'unknown'],
    ['everyone as the subject', { subject: 'user:*', relation: 'read', resourceType: 'node' }, 'subject', 'malformed'],
  ])('refuse %s that cannot be', (_, asking, part, reason) => {
    expect(service().resources(asking, unknown)).toEqual({ part, reason })
  })

  test('are not answered beyond fifty tuples', () => {
    const schema = `definition user {}
definition group {
    relation member: user | group#member
}
`
    const nested = Array.from({ length: 52 }, (_, at) => `group:g${at + 1}#member@group:g${at}#member`)
    const engine = engineOf(schema, ['group:g0#member@user:ann', ...nested])
    const lookups = createLookups(engine)
    const asking = { subject: 'user:ann', relation: 'member', resourceType: 'group' }
    expect(() => lookups.resources(asking, unknown)).toThrow(UndecidableError)
    const subjects = { subjectType: 'user', relation: 'member', resource: 'group:g52' }
    expect(() => lookups.subjects(subjects, unknown)).toThrow(UndecidableError)
  })
})

describe('lookups of subjects', () => {
  test('follow groups and parents from the resource downwards', () => {
    const { subjects } = service('domain:acme#operator@group:staff#member', 'group:staff#member@user:ann')
    const asking = { subjectType: 'user', relation: 'deploy', resource: 'project:web' }
    expect(subjects(asking, unknown)).toEqual({
      granted: ['user:ann'],
      conditional: [],
      unconditional: ['user:ann'],
    })
  })

  test('say everyone by the wildcard, beside those who are named', () => {
    const { subjects } = service('project:web#viewer@user:*', 'project:web#admin@user:ann')
    const asking = { subjectType: 'user', relation: 'read', resource: 'project:web' }
    expect(subjects(asking, unknown)).toEqual({
      granted: ['user:ann'],
      conditional: [],
      unconditional: ['user:*', 'user:ann'],
      wildcard: { verdict: 'granted', excluded: [] },
    })
  })

  const EXCEPT = `definition user {}
definition doc {
    relation reader: user | user:*
    relation banned: user | user:*
    relation asked: user | user:*
    permission read = reader - banned
    permission twice = reader - (reader - banned)
    permission both = read & asked
}
`
  const exceptions = [
    ['those who are banned', 'read', ['doc:d#reader@user:*', 'doc:d#banned@user:bob'], { excluded: ['user:bob'] }],
    ['nobody who is banned too', 'read', ['doc:d#reader@user:*', 'doc:d#banned@user:*'], { isNobody: true }],
    [
      'one who is taken from those who are taken out',
      'twice',
      ['doc:d#reader@user:*', 'doc:d#banned@user:bob'],
      { granted: ['user:bob'], isNobody: true },
    ],
    [
      'those that both sides leave',
      'both',
      ['doc:d#reader@user:*', 'doc:d#asked@user:*', 'doc:d#banned@user:bob', 'doc:d#asked@user:eve'],
      { granted: ['user:eve'], excluded: ['user:bob'] },
    ],
  ] as const
  test.each(exceptions)('count exactly: %s', (_, relation, tuples, expected) => {
    const engine = engineOf(EXCEPT, tuples)
    const found = createLookups(engine).subjects({ subjectType: 'user', relation, resource: 'doc:d' }, unknown)
    if ('reason' in found) throw new Error(found.part)
    expect(found.granted).toEqual('granted' in expected ? expected.granted : [])
    const wildcard = 'isNobody' in expected ? undefined : { verdict: 'granted', excluded: expected.excluded }
    expect(found.wildcard).toEqual(wildcard)
  })

  test('never say everyone where one is left out', () => {
    const engine = engineOf(EXCEPT, ['doc:d#reader@user:*', 'doc:d#banned@user:bob', 'doc:d#reader@user:ann'])
    const found = createLookups(engine).subjects({ subjectType: 'user', relation: 'read', resource: 'doc:d' }, unknown)
    expect(found).toMatchObject({ unconditional: ['user:ann'] })
  })

  test('find nobody on an object that has no tuples, but itself', () => {
    const { subjects } = service()
    expect(subjects({ subjectType: 'user', relation: 'read', resource: 'user:zoe' }, unknown)).toEqual({
      granted: ['user:zoe'],
      conditional: [],
      unconditional: ['user:zoe'],
    })
    expect(subjects({ subjectType: 'user', relation: 'read', resource: 'node:none' }, unknown)).toMatchObject({
      granted: [],
    })
  })
})
