import { expect, test } from 'vitest'
import { createPreview, QUESTIONS_MAX } from '../../../../../../src/shared/authz/engine/impact/preview.ts'
import { UNKNOWN, YES } from '../../../../../../src/shared/authz/engine/verdict.ts'
import { SERVICE_MODEL } from '../../../../../../src/shared/authz/service-model.ts'
import { PARENT_EDGES } from '../../../../../support/authz/tree.ts'
import { engineOf, tuple } from '../../../../../support/authz/tuples.ts'

const options = { holds: () => UNKNOWN, changesMax: 100 }

test('everyone is one change, not one for each', () => {
  const engine = engineOf(SERVICE_MODEL, [...PARENT_EDGES, 'project:web#admin@user:ann'])
  const edits = [{ op: 'create', tuple: tuple('resource:relay#viewer@user:*') }] as const
  expect(createPreview(engine)(edits, options)).toEqual({
    changes: [
      { subject: 'user:*', permission: 'observe', resource: 'resource:relay', change: 'gains' },
      { subject: 'user:*', permission: 'read', resource: 'resource:relay', change: 'gains' },
    ],
    count: 2,
    isComplete: true,
  })
})

test('edits are taken together: a move of one role to another says what differs', () => {
  const engine = engineOf(SERVICE_MODEL, [...PARENT_EDGES, 'project:web#admin@user:ann'])
  const edits = [
    { op: 'delete', tuple: tuple('project:web#admin@user:ann') },
    { op: 'create', tuple: tuple('project:web#deployer@user:ann') },
  ] as const
  const impact = createPreview(engine)(edits, options)
  if ('reason' in impact) throw new Error(impact.reason)
  const onProject = impact.changes.filter(({ resource }) => resource === 'project:web')
  expect(onProject.map(({ permission, change }) => `${change} ${permission}`)).toEqual([
    'loses maintainer',
    'loses manage',
  ])
})

test('a tuple that is taken out for the preview comes back with its values, its expiry and its revision', () => {
  const schema = `use expiration
caveat inside(place string) {
    place == "inside"
}
definition user {}
definition doc {
    relation reader: user | user with inside and expiration
    permission read = reader
}
`
  const engine = engineOf(schema, [])
  const kept = { ...tuple('doc:d#reader@user:ann[inside]'), caveat_context: { place: 'inside' }, expires_at_ms: 5_000 }
  engine.index.touch(kept, 7)
  const edits = [{ op: 'delete', tuple: kept }] as const
  const impact = createPreview(engine)(edits, { ...options, holds: () => YES })
  expect(impact).toMatchObject({ count: 1, changes: [{ subject: 'user:ann', change: 'loses' }] })
  expect(engine.index.touch(kept, 7)).toBe('unchanged')
  expect(engine.index.tuples).toBe(1)
})

test('a preview asks a bounded number of questions and says that it did not ask all', () => {
  const parents = Array.from({ length: QUESTIONS_MAX / 2 }, (_, at) => `resource:r${at}#project@project:web`)
  const engine = engineOf(SERVICE_MODEL, [...PARENT_EDGES, ...parents])
  const edits = [{ op: 'create', tuple: tuple('project:web#viewer@user:ann') }] as const
  const impact = createPreview(engine)(edits, { ...options, changesMax: 3 })
  if ('reason' in impact) throw new Error(impact.reason)
  expect(impact.changes).toHaveLength(3)
  expect(impact).toMatchObject({ count: QUESTIONS_MAX, isComplete: false })
})
