import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ChangeLog, type Moment } from '../../../../../src/shared/authz/engine/change-log.ts'
import { Checker } from '../../../../../src/shared/authz/engine/checker.ts'
import { resolveSetQuestion } from '../../../../../src/shared/authz/engine/resolve-question.ts'
import { TupleIndex } from '../../../../../src/shared/authz/engine/tuple-index.ts'
import { UNKNOWN } from '../../../../../src/shared/authz/engine/verdict.ts'
import { compileSchema } from '../../../../../src/shared/authz/language/compile.ts'
import { parseSchema } from '../../../../../src/shared/authz/language/parser.ts'
import { OBJECTS, QUESTIONS, schemas, tupleTexts } from '../../../../support/authz/arbitraries.ts'
import { tuple } from '../../../../support/authz/tuples.ts'
import { depth } from '../../../../support/run/depth.ts'

interface Write {
  readonly text: string
  readonly isTouch: boolean
  readonly opens: boolean
}

const writes = (texts: fc.Arbitrary<string[]>): fc.Arbitrary<Write[]> =>
  texts.chain((pool) =>
    fc.array(
      fc.record({
        text: fc.constantFrom(...pool),
        isTouch: fc.boolean(),
        opens: fc.nat(9).map((drawn) => drawn === 0),
      }),
      { minLength: 20, maxLength: 80 },
    ),
  )

function worldOf(schema: string, changes?: ChangeLog) {
  const model = compileSchema(parseSchema(schema))
  const index = new TupleIndex(model, changes)
  const checker = new Checker(index)
  /** The questions by number, as they are asked in a past state. */
  const resolved = () =>
    QUESTIONS.map((question) => {
      const [asked = '', subject = ''] = question.split('@')
      const [resource = '', relation = ''] = asked.split('#')
      return resolveSetQuestion(model, index, { subject, relation, resource })
    })
  const answersTo = (questions: ReturnType<typeof resolved>) =>
    questions.map((question) => {
      try {
        return 'reason' in question ? question : checker.check(question, () => UNKNOWN, false)
      } catch (error) {
        return String(error)
      }
    })
  /** Everything by number: what tables hold of the first rows, and what is computed from it. */
  function stateOf(sizes: Sizes, objects: readonly number[], questions: ReturnType<typeof resolved>) {
    const image = index.image()
    return JSON.stringify([
      [...image.objects.subarray(0, sizes.objects)],
      [...image.sets.subarray(0, sizes.sets)],
      [...image.edges.subarray(0, sizes.edges)],
      [...image.revisions.subarray(0, sizes.revisions)],
      image.names.toSorted(([a], [b]) => a - b),
      image.conditions.toSorted((a, b) => a.edge - b.edge),
      objects.map((object) => index.firstRevision(object)),
      model.types.map((type) => index.wildcard(type)),
      answersTo(questions),
    ])
  }
  const numbers = () =>
    OBJECTS.map((object) => {
      const [type = '', id = ''] = object.split(':')
      return index.objects.find(model.type(type)?.index ?? -1, id, 0)
    }).filter((object) => object >= 0)
  return { model, index, stateOf, numbers, resolved }
}

interface Sizes {
  readonly objects: number
  readonly sets: number
  readonly edges: number
  readonly revisions: number
}

function sizesOf(index: TupleIndex): Sizes {
  const { objects, sets, edges, revisions } = index.image()
  return { objects: objects.length, sets: sets.length, edges: edges.length, revisions: revisions.length }
}

test('an index can be read as it was at every moment that is still needed, and is as it was afterwards', () => {
  const histories = fc.record({
    schema: schemas(['+', '&', 'all']),
    history: writes(tupleTexts('any')),
    order: fc.infiniteStream(fc.nat()),
  })
  fc.assert(
    fc.property(histories, ({ schema, history, order }) => {
      const { index, stateOf, numbers, resolved } = worldOf(schema)
      const open: { readonly moment: Moment; readonly now: () => unknown; readonly was: unknown }[] = []
      let revision = 0
      for (const { text, isTouch, opens } of history) {
        if (opens) {
          const parts = [sizesOf(index), numbers(), resolved()] as const
          const now = () => stateOf(...parts)
          open.push({ moment: index.moment(), now, was: now() })
        }
        if (isTouch) index.touch(tuple(text), ++revision)
        else index.remove(tuple(text))
        const parts = [sizesOf(index), numbers(), resolved()] as const
        const present = stateOf(...parts)
        for (const { moment, now, was } of open) index.changes.at(moment, () => expect(now()).toBe(was))
        expect(stateOf(...parts)).toBe(present)
        const closed = open[(order.next().value ?? 0) % 8]
        if (closed === undefined) continue
        index.changes.close(closed.moment)
        open.splice(open.indexOf(closed), 1)
      }
      for (const { moment } of open) index.changes.close(moment)
      expect(index.changes.size).toBe(0)
    }),
    { numRuns: depth({ ci: 20, deep: 1_000 }) },
  )
})

const GROUPS = 'definition user {}\ndefinition group {\n    relation member: user\n}\n'

test('nothing is recorded while no moment is needed', () => {
  const { index } = worldOf(GROUPS)
  index.touch(tuple('group:a#member@user:ann'), 1)
  expect(index.changes.size).toBe(0)
})

test('a moment is lost when more changes than the log holds, and later ones are not', () => {
  const { index } = worldOf(GROUPS, new ChangeLog(100))
  const first = index.moment()
  for (let at = 0; !first.isLost && at < 100; at++) index.touch(tuple(`group:a#member@user:u${at}`), at)
  expect(first.isLost).toBe(true)
  expect(() => index.changes.at(first, () => undefined)).toThrow('cannot be restored')
  expect(index.changes.size).toBe(0)
  const second = index.moment()
  const before = index.tuples
  index.touch(tuple('group:a#member@user:later'), 1_000)
  index.changes.at(second, () => expect(index.edges.a(before)).toBe(-1))
  expect(index.edges.a(before)).not.toBe(-1)
  index.changes.close(first)
  index.changes.close(second)
})

test('tuples cannot be changed in a past state', () => {
  const { index } = worldOf(GROUPS)
  const moment = index.moment()
  const write = () => index.changes.at(moment, () => void index.touch(tuple('group:a#member@user:ann'), 1))
  expect(write).toThrow('cannot be changed in a past state')
})

test('nothing is left in the log when the last moment is lost in the middle of a write', () => {
  for (let max = 1; max <= 40; max++) {
    const { index } = worldOf(GROUPS, new ChangeLog(max))
    const moment = index.moment()
    for (let at = 0; at < 10; at++) index.touch(tuple(`group:a#member@user:u${at}`), at)
    expect([max, moment.isLost, index.changes.isOpen, index.changes.size]).toEqual([max, true, false, 0])
  }
})
