import { describe, expect, it } from 'vitest'
import { askAll, askAny, type Outcome, type Question } from '../../../../../src/server/http/auth/leg-questions.ts'
import type { Leg } from '../../../../../src/server/http/operation-plan.ts'
import { compileTemplate } from '../../../../../src/server/http/template.ts'
import type { Decision } from '../../../../../src/server/ports/authorizer.ts'

const leg = (relation: string, object: string, when?: Leg['when']): Leg => ({
  relation: compileTemplate(relation),
  object: compileTemplate(object),
  when,
  grantedBy: undefined,
})

const LEGS = [
  leg('read', 'project:{path.id}'),
  leg('manage', 'domain:{query.domain_id}'),
  leg('operate', 'platform:main'),
]
const SOURCES = { path: { id: 'p' }, query: { domain_id: 'd' }, caller: {} }

/** Holds these relations; keeps what was asked. */
function holding(relations: readonly string[], isLate: boolean) {
  const asked: string[] = []
  const ask = ({ relation, resource }: Question): Decision | Promise<Decision> => {
    asked.push(`${relation} ${resource}`)
    const decision: Decision = relations.includes(relation)
      ? { allowed: true, path: [] }
      : { allowed: false, reason: 'insufficient_relation' }
    return isLate ? Promise.resolve(decision) : decision
  }
  return { asked, ask }
}

const named = (outcome: Outcome): string | undefined => (typeof outcome === 'object' ? outcome.relation : outcome)

describe.each([
  ['at once', false],
  ['later', true],
])('where decisions come %s', (_, isLate) => {
  it.each([
    [['read', 'manage', 'operate'], 'held', 1],
    [['operate'], 'held', 3],
    [[], 'read', 3],
  ] as const)('one leg is enough: %j', async (relations, outcome, count) => {
    const { asked, ask } = holding(relations, isLate)
    expect(named(await askAny(LEGS, SOURCES, ask))).toBe(outcome)
    expect(asked).toHaveLength(count)
  })

  it.each([
    [['read', 'manage', 'operate'], 'held', 3],
    [['manage', 'operate'], 'read', 1],
    [['read', 'operate'], 'manage', 2],
    [['read', 'manage'], 'operate', 3],
    [[], 'read', 1],
  ] as const)('all legs are needed, and the first that is not held is named: %j', async (relations, outcome, count) => {
    const { asked, ask } = holding(relations, isLate)
    expect(named(await askAll(LEGS, SOURCES, ask))).toBe(outcome)
    expect(asked).toHaveLength(count)
  })

  it('a hole that stays empty passes a leg over where one is enough, and admits nobody where all are needed', async () => {
    const sources = { ...SOURCES, query: {} }
    const { asked, ask } = holding(['read', 'operate'], isLate)
    expect(named(await askAny(LEGS.slice(1), sources, ask))).toBe('held')
    expect(asked).toEqual(['operate platform:main'])
    await expect(async () => askAll(LEGS, sources, ask)).rejects.toThrow(
      'nothing fills the holes of the leg manage on domain:{query.domain_id}',
    )
  })

  it('the row says which relation is asked; where it names none the leg is passed over', async () => {
    const legs = [leg('{row.decide_relation}', '{row.object}')]
    const { asked, ask } = holding(['assign'], isLate)
    const row = { decide_relation: 'assign', object: 'cloud:c' }
    expect(named(await askAny(legs, { ...SOURCES, row }, ask))).toBe('held')
    expect(await askAny(legs, { ...SOURCES, row: { ...row, decide_relation: '' } }, ask)).toBeUndefined()
    expect(asked).toEqual(['assign cloud:c'])
  })

  it.each([
    ['platform', 'operate platform:main'],
    ['project', 'read project:p'],
  ])('a leg is asked only where the body selects it: %s', async (scope, only) => {
    const legs = [
      leg('operate', 'platform:main', { member: 'scope', is: 'platform' }),
      leg('read', 'project:{path.id}', { member: 'scope', is: 'project' }),
    ]
    for (const asksLegs of [askAny, askAll]) {
      const { asked, ask } = holding(['operate', 'read'], isLate)
      expect(named(await asksLegs(legs, { ...SOURCES, body: { scope } }, ask))).toBe('held')
      expect(asked).toEqual([only])
      expect(await asksLegs(legs, { ...SOURCES, body: { scope: 'other' } }, ask)).toBeUndefined()
    }
  })
})
