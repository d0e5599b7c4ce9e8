import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  exclusion,
  intersection,
  union,
  type Found,
  type SubjectSet,
} from '../../../../../src/shared/authz/validation/subject-set.ts'

const IDS = ['anne', 'bob', 'carl'] as const
const SOMEBODY_ELSE = 'dora'
const here: Found = { isConditional: false, through: new Set(['document:plan#viewer']) }

const members = fc.subarray([...IDS]).map((ids) => new Map(ids.map((id) => [id, here] as const)))

/** Sets without conditions: some subjects, and perhaps everyone but some. */
const sets: fc.Arbitrary<SubjectSet> = fc.record({
  concrete: members,
  wildcard: fc.option(
    members.map((exceptions) => ({ ...here, exceptions })),
    { nil: undefined },
  ),
})

const holds = ({ concrete, wildcard }: SubjectSet, id: string): boolean =>
  concrete.has(id) || (wildcard !== undefined && !wildcard.exceptions.has(id))

const everybody = [...IDS, SOMEBODY_ELSE]

describe('Sets of subjects, without conditions, are sets', () => {
  it.each([
    ['union', (a: SubjectSet, b: SubjectSet) => union([a, b]), (a: boolean, b: boolean) => a || b],
    ['intersection', intersection, (a: boolean, b: boolean) => a && b],
    ['exclusion', exclusion, (a: boolean, b: boolean) => a && !b],
  ])('%s', (_, combine, expected) => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const combined = combine(a, b)
        for (const id of everybody)
          expect([id, holds(combined, id)]).toEqual([id, expected(holds(a, id), holds(b, id))])
      }),
      { numRuns: 500 },
    )
  })
})

describe('What a condition makes of a combination', () => {
  const conditional: Found = { ...here, isConditional: true }
  const of = (id: string, found: Found): SubjectSet => ({ concrete: new Map([[id, found]]), wildcard: undefined })
  const all = (found: Found): SubjectSet => ({ concrete: new Map(), wildcard: { ...found, exceptions: new Map() } })

  it.each([
    ['one of two ways is unconditional', union([of('anne', here), of('anne', conditional)]), false],
    ['both ways are conditional', union([of('anne', conditional), of('anne', conditional)]), true],
    ['both sides, one of them conditional', intersection(of('anne', here), of('anne', conditional)), true],
    ['taken away under a condition', exclusion(of('anne', here), of('anne', conditional)), true],
    ['everyone taken away under a condition', exclusion(of('anne', here), all(conditional)), true],
    ['also under a conditional wildcard', intersection(of('anne', here), all(conditional)), true],
  ])('%s', (_, { concrete }, isConditional) => {
    expect(concrete.get('anne')?.isConditional).toBe(isConditional)
  })

  it('an exception of a wildcard is gone where the subject is there by itself, and open where that hangs on a condition', () => {
    const but = exclusion(all(here), of('anne', here))
    expect(union([but, of('anne', here)]).wildcard?.exceptions.size).toBe(0)
    expect(union([but, of('anne', conditional)]).wildcard?.exceptions.get('anne')?.isConditional).toBe(true)
  })
})
