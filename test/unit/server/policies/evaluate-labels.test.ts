import { expect, test } from 'vitest'
import { evaluateLabels } from '../../../../src/server/policies/evaluate-nodes.ts'
import type { StoredLabels } from '../../../../src/server/policies/nodes-store.ts'
import type { BoundSelector, Definition } from '../../../../src/shared/selectors/bind-selector.ts'

const definition = (localKey: string): Definition => ({
  id: `id-${localKey}`,
  localKey,
  qualifiedKey: `domain:d/${localKey}`,
  scope: { kind: 'domain', id: 'd' },
  inherit: localKey === 'team',
  type: 'string',
})
const has = (localKey: string, value: string): BoundSelector => ({
  requirements: [{ op: 'in', definition: definition(localKey), values: [value] }],
})
/** Labels of the Definitions `host`, `role` and `team`, in these places. */
const labelsOf = (kind: StoredLabels['kind'], objectId: string, ...labels: (readonly [number, string])[]) => ({
  kind,
  objectId,
  labels: JSON.stringify(labels.map(([place, value]) => [place, value, 'string'])),
})

test('labels that were read for several selectors are evaluated for some of them', () => {
  const definitionIds = ['id-host', 'id-role', 'id-team']
  const stored = [
    labelsOf('node', 'a', [1, 'h1'], [2, 'web']),
    labelsOf('node', 'b', [1, 'h2'], [2, 'web']),
    labelsOf('node', 'c', [1, 'h3'], [2, 'db'], [3, 'blue']),
    labelsOf('node', 'd', [1, 'h4']),
    labelsOf('project', 'p', [3, 'red']),
  ]
  const nodes = ['a', 'b', 'c', 'd'].map((id) => ({ id, projectId: 'p' }))
  const select = (...bound: (readonly [string, BoundSelector])[]) =>
    evaluateLabels({ nodes, bound: new Map(bound) }, { definitionIds, stored })
  const roles = select(['web', has('role', 'web')], ['db', has('role', 'db')])
  expect([roles('web'), roles('db')]).toEqual([['a', 'b'], ['c']])
  expect(select(['red', has('team', 'red')])('red')).toEqual(['a', 'b', 'd'])
  expect(select(['h2', has('host', 'h2')])('h2')).toEqual(['b'])
  const all = select(['web', has('role', 'web')], ['h4', has('host', 'h4')], ['red', has('team', 'red')])
  expect([all('web'), all('h4'), all('red')]).toEqual([['a', 'b'], ['d'], ['a', 'b', 'd']])
  expect(() => all('db')).toThrow('not bound')
})
