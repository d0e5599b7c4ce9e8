import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { explain, explainInSteps, withRemedies } from '../../../../../../src/shared/authz/engine/explain/explain.ts'
import { createLookups } from '../../../../../../src/shared/authz/engine/lookup/lookups.ts'
import { UndecidableError } from '../../../../../../src/shared/authz/engine/undecidable.ts'
import { UNKNOWN } from '../../../../../../src/shared/authz/engine/verdict.ts'
import { whole, type Steps } from '../../../../../../src/shared/steps.ts'
import { createRandom, type Random } from '../../../../../fuzz/authz/random.ts'
import { schemas } from '../../../../../support/authz/arbitraries.ts'
import { engineOf, tuple } from '../../../../../support/authz/tuples.ts'
import { depth } from '../../../../../support/run/depth.ts'

const [USERS, GROUPS, FOLDERS, FILES] = [60, 30, 40, 1_200]
const RELATIONS = ['reader', 'writer', 'banned']

/** A tuple of the schemas of `schemas`: no group or folder is within itself, and some folders have most of the files. */
function drawTuple(random: Random): string {
  const user = `user:u${random.below(USERS)}`
  const group = random.below(GROUPS)
  const member = random.chance(0.2) ? `group:g${group}#member` : user
  const caveat = random.chance(0.1) ? '[weekday]' : ''
  const folder = random.below(FOLDERS - 1)
  const object = random.chance(0.1) ? `folder:d${folder}` : `file:f${random.below(FILES)}`
  return random.pick([
    () => `group:g${group}#member@${user}${caveat}`,
    () => `group:g${random.below(Math.max(1, group))}#member@group:g${group + 1}#member`,
    () => `folder:d${folder + 1}#${random.pick(['parent', 'home'])}@folder:d${random.below(folder + 1)}`,
    () => `file:f${random.below(FILES)}#${random.pick(['parent', 'home'])}@folder:d${random.below(3)}`,
    () => `file:f${random.below(FILES)}#parent@folder:d${folder}`,
    () => `${object}#${random.pick(RELATIONS)}@${member}${member.startsWith('user') ? caveat : ''}`,
    () => `${object}#reader@${random.chance(0.1) ? 'user:*' : member}`,
  ])()
}

function outcomeOf<T>(work: () => T): T | string {
  try {
    return work()
  } catch (error) {
    if (error instanceof UndecidableError) return 'undecided'
    throw error
  }
}

interface Interleaved<T> {
  readonly answer: T | string
  readonly count: number
}

/** Answers in the state of the first step, with writes between all steps; and the number of steps. */
function interleaved<T>({ engine, random }: Drawn, steps: Steps<T>): Interleaved<T> {
  const { index } = engine
  const moment = index.moment()
  const answers: (T | string)[] = []
  for (let count = 1; ; count++) {
    index.changes.at(moment, () => answers.push(...answersOf(steps)))
    for (let write = 0; write < 3; write++) {
      const drawn = tuple(drawTuple(random))
      if (random.chance(0.5)) index.touch(drawn, 10_000 + count)
      else index.remove(drawn)
    }
    const [answer] = answers
    if (answer === undefined) continue
    index.changes.close(moment)
    return { answer, count }
  }
}

/** Makes one step; the answer where it was the last one. */
function answersOf<T>(steps: Steps<T>): (T | string)[] {
  try {
    const step = steps.next()
    return step.done === true ? [step.value] : []
  } catch (error) {
    if (error instanceof UndecidableError) return ['undecided']
    throw error
  }
}

interface Drawn {
  readonly engine: ReturnType<typeof engineOf>
  readonly random: Random
}

function draw(schema: string, seed: number): Drawn {
  const random = createRandom(seed)
  const tuples = new Set(Array.from({ length: 6_000 }, () => drawTuple(random)))
  const engine = engineOf(schema, [])
  let revision = 0
  for (const text of tuples) engine.index.touch(tuple(text), (revision += random.below(2)))
  return { engine, random }
}

const holds = () => UNKNOWN
const NAMES = ['reader', 'first', 'second', 'third']
const worlds = fc.record({ schema: schemas(['+', '&', '-', 'all']), seed: fc.nat() })
const RUNS = { numRuns: depth({ ci: 8, deep: 400 }) }

test('lookups in steps find what was there at the first step, whatever is written between the steps', () => {
  let steps = 0
  fc.assert(
    fc.property(worlds, ({ schema, seed }) => {
      const drawn = draw(schema, seed)
      const lookups = createLookups(drawn.engine)
      for (const relation of NAMES) {
        const resources = { subject: `user:u${drawn.random.below(USERS)}`, relation, resourceType: 'file' }
        const foundResources = outcomeOf(() => lookups.resources(resources, holds))
        const resourcesNow = interleaved(drawn, lookups.inSteps.resources(resources, holds))
        expect(resourcesNow.answer).toEqual(foundResources)
        const subjects = { subjectType: 'user', relation, resource: `folder:d${drawn.random.below(FOLDERS)}` }
        const foundSubjects = outcomeOf(() => lookups.subjects(subjects, holds))
        const subjectsNow = interleaved(drawn, lookups.inSteps.subjects(subjects, holds))
        expect(subjectsNow.answer).toEqual(foundSubjects)
        steps += resourcesNow.count + subjectsNow.count
      }
      expect(drawn.engine.index.changes.size).toBe(0)
    }),
    RUNS,
  )
  expect(steps).toBeGreaterThan(100)
})

test('lookups that are under way at the same time find the same as one after the other', () => {
  fc.assert(
    fc.property(worlds, ({ schema, seed }) => {
      const { engine } = draw(schema, seed)
      const lookups = createLookups(engine)
      const asked = [0, 1, 2].map((user) => ({ subject: `user:u${user}`, relation: 'third', resourceType: 'file' }))
      const expected = asked.map((asking) => outcomeOf(() => lookups.resources(asking, holds)))
      const underWay = asked.map((asking) => lookups.inSteps.resources(asking, holds))
      const answers = new Map<number, unknown>()
      while (answers.size < asked.length) {
        for (const [at, steps] of underWay.entries()) {
          if (answers.has(at)) continue
          for (const answer of answersOf<unknown>(steps)) answers.set(at, answer)
        }
      }
      expect(asked.map((_, at) => answers.get(at))).toEqual(expected)
    }),
    RUNS,
  )
})

test('explanations in steps are those of the first step, whatever is written between the steps', () => {
  let steps = 0
  fc.assert(
    fc.property(worlds, ({ schema, seed }) => {
      const drawn = draw(schema, seed)
      const { engine, random } = drawn
      const options = { holds, missing: () => ['day'], mayBind: () => true }
      for (const relation of NAMES) {
        const asking = { subject: `user:u${random.below(USERS)}`, relation, resource: `file:f${random.below(FILES)}` }
        const expected = outcomeOf(() => whole(explainInSteps(engine, asking, options)))
        const { answer, count } = interleaved(drawn, explainInSteps(engine, asking, options))
        expect(answer).toEqual(expected)
        steps += count
      }
    }),
    RUNS,
  )
  expect(steps).toBeGreaterThan(40)
})

test('an explanation of an object with thousands of groups ends many steps, and its remedies are tried at the end', () => {
  const schema = `definition user {}
definition group {
    relation member: user
}
definition doc {
    relation reader: group#member
}
`
  const groups = Array.from({ length: 5_000 }, (_, at) => `doc:d#reader@group:g${at}#member`)
  const engine = engineOf(schema, groups)
  const asking = { subject: 'user:ann', relation: 'reader', resource: 'doc:d' }
  const options = { holds, missing: () => [], mayBind: () => true }
  const steps = explainInSteps(engine, asking, options)
  let count = 0
  let end = steps.next()
  for (; end.done !== true; end = steps.next()) count++
  if (end.value === undefined || 'reason' in end.value) throw new Error('not explained')
  expect(count).toBeGreaterThan(50)
  const explained = withRemedies(end.value, { deps: engine, asking, options })
  expect(explained).toEqual(explain(engine, asking, options))
  expect(explained.remedies).toHaveLength(10)
})
