import { expect, test } from 'vitest'
import type { ConditionVerdict } from '../../../../../../src/shared/authz/engine/question.ts'
import { explain } from '../../../../../../src/shared/authz/engine/explain/explain.ts'
import { NO, UNKNOWN, VIOLATED } from '../../../../../../src/shared/authz/engine/verdict.ts'
import type { Explanation } from '../../../../../../src/shared/authz/explanation.ts'
import type { Model } from '../../../../../../src/shared/authz/model.ts'
import { SERVICE_MODEL } from '../../../../../../src/shared/authz/service-model.ts'
import { PARENT_EDGES } from '../../../../../support/authz/tree.ts'
import { engineOf } from '../../../../../support/authz/tuples.ts'

interface Options {
  readonly holds?: ConditionVerdict
  readonly mayBind?: (subject: string, resource: string) => boolean
}

function explained(schema: Model | string, tuples: readonly string[], question: string, options: Options = {}) {
  const { holds = () => UNKNOWN, mayBind = () => true } = options
  const engine = engineOf(schema, tuples, holds)
  const [asked = '', subject = ''] = question.split('@')
  const [resource = '', relation = ''] = asked.split('#')
  const missing = () => ['acr']
  const answer = explain(engine, { subject, relation, resource }, { holds, missing, mayBind })
  if ('reason' in answer) throw new Error(`${answer.part} ${answer.reason}`)
  return answer
}

/** A tree in lines: indent, outcome, kind and names. */
function linesOf({ kind, outcome, object, name, subject, condition, omitted, parts }: Explanation): string[] {
  const told = [
    outcome,
    kind,
    `${object}${name === '' ? '' : `#${name}`}${subject === undefined ? '' : `@${subject}`}`,
    ...(condition === undefined ? [] : [`[${condition.caveat} ${condition.outcome} ${condition.missing.join()}]`]),
    ...(omitted === undefined ? [] : [omitted]),
  ]
  return [told.join(' '), ...parts.flatMap((part) => linesOf(part).map((line) => `  ${line}`))]
}

const remediesOf = ({ remedies }: ReturnType<typeof explained>) =>
  remedies.map((tuples) => tuples.map(({ subject, relation, resource }) => `${resource}#${relation}@${subject}`))

test('a grant is shown by the branches that it needed and no others', () => {
  const tuples = [...PARENT_EDGES, 'domain:acme#operator@group:staff#member', 'group:staff#member@user:ann']
  const answer = explained(SERVICE_MODEL, tuples, 'project:web#deploy@user:ann')
  expect(answer).toMatchObject({ outcome: 'granted', remedies: [] })
  expect(linesOf(answer.tree)).toEqual([
    'granted permission project:web#deploy',
    '  granted union project:web',
    '    granted arrow project:web#domain->operate',
    '      granted tuple project:web#domain@domain:acme',
    '        granted permission domain:acme#operate',
    '          granted union domain:acme',
    '            granted relation domain:acme#operator',
    '              granted tuple domain:acme#operator@group:staff#member',
    '                granted relation group:staff#member',
    '                  granted tuple group:staff#member@user:ann',
  ])
})

test('a denial is shown by every branch that failed, and each question once', () => {
  const answer = explained(SERVICE_MODEL, PARENT_EDGES, 'domain:acme#operate@user:ann')
  expect(answer.outcome).toBe('denied')
  expect(linesOf(answer.tree)).toEqual([
    'denied permission domain:acme#operate',
    '  denied union domain:acme',
    '    denied permission domain:acme#manage',
    '      denied union domain:acme',
    '        denied relation domain:acme#admin',
    '        denied arrow domain:acme#platform->manage',
    '          denied tuple domain:acme#platform@platform:main',
    '            denied permission platform:main#manage',
    '              denied relation platform:main#admin',
    '    denied relation domain:acme#operator',
  ])
})

test('a condition is shown with the fields that it lacks', () => {
  const tuples = [...PARENT_EDGES, 'domain:acme#admin@user:ann[strong_auth]']
  const answer = explained(SERVICE_MODEL, tuples, 'domain:acme#manage@user:ann')
  expect(answer.outcome).toBe('conditional')
  expect(linesOf(answer.tree)).toEqual([
    'conditional permission domain:acme#manage',
    '  conditional union domain:acme',
    '    conditional relation domain:acme#admin',
    '      conditional tuple domain:acme#admin@user:ann [strong_auth conditional acr]',
  ])
})

test('a condition that does not hold denies, and one that has expired says so', () => {
  const tuples = [...PARENT_EDGES, 'domain:acme#admin@user:ann[strong_auth]']
  const leafOf = (holds: ConditionVerdict) =>
    explained(SERVICE_MODEL, tuples, 'domain:acme#admin@user:ann', { holds }).tree.parts[0]?.condition
  expect(leafOf(() => VIOLATED)).toEqual({
    caveat: 'strong_auth',
    outcome: 'denied',
    missing: [],
    isExpired: false,
  })
  expect(leafOf(() => NO)).toMatchObject({ outcome: 'denied', isExpired: true })
})

const NESTED = `definition user {}
definition group {
    relation member: user | group#member
}
definition doc {
    relation reader: user | group#member
    relation cleared: user | group#member
    relation banned: user
    permission read = reader & cleared
    permission sane = reader - banned
}
`

test('a group within itself is shown as a cycle and does not prove itself', () => {
  const tuples = ['group:a#member@group:b#member', 'group:b#member@group:a#member', 'doc:d#reader@group:a#member']
  expect(linesOf(explained(NESTED, tuples, 'doc:d#reader@user:ann').tree)).toEqual([
    'denied relation doc:d#reader',
    '  denied tuple doc:d#reader@group:a#member',
    '    denied relation group:a#member',
    '      denied tuple group:a#member@group:b#member',
    '        denied relation group:b#member',
    '          denied tuple group:b#member@group:a#member',
    '            denied relation group:a#member cycle',
  ])
})

test('remedies are the cheapest grants first, the nearest of as many first', () => {
  const tuples = [...PARENT_EDGES, 'domain:acme#operator@group:staff#member']
  const answer = explained(SERVICE_MODEL, tuples, 'project:web#deploy@user:ann')
  expect(remediesOf(answer)).toEqual([
    ['project:web#admin@user:ann'],
    ['project:web#deployer@user:ann'],
    ['domain:acme#admin@user:ann'],
    ['domain:acme#operator@user:ann'],
    ['platform:main#admin@user:ann'],
    ['group:staff#member@user:ann'],
  ])
})

test('an intersection needs one grant for each part that is missing', () => {
  expect(remediesOf(explained(NESTED, ['doc:d#banned@user:eve'], 'doc:d#read@user:ann'))).toEqual([
    ['doc:d#reader@user:ann', 'doc:d#cleared@user:ann'],
  ])
  expect(remediesOf(explained(NESTED, ['doc:d#cleared@user:ann'], 'doc:d#read@user:ann'))).toEqual([
    ['doc:d#reader@user:ann'],
  ])
})

test('nothing is proposed against an exclusion', () => {
  expect(remediesOf(explained(NESTED, ['doc:d#banned@user:ann'], 'doc:d#sane@user:ann'))).toEqual([])
})

test('no parent edge is proposed, and nothing that the subject may not be bound to', () => {
  const mayBind = (_: string, resource: string) => resource === 'domain:acme'
  const answer = explained(SERVICE_MODEL, PARENT_EDGES, 'project:web#manage@user:ann', { mayBind })
  expect(remediesOf(answer)).toEqual([['domain:acme#admin@user:ann']])
})

test('a tree ends after two thousand nodes and says so', () => {
  const groups = Array.from({ length: 2_500 }, (_, at) => `doc:d#reader@group:g${at}#member`)
  const { tree } = explained(NESTED, groups, 'doc:d#reader@user:ann')
  expect(linesOf(tree).length).toBeLessThan(2_010)
  expect(tree).toMatchObject({ outcome: 'denied', omitted: 'too_large' })
})
