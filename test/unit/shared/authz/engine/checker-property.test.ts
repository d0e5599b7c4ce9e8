import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { UndecidableError } from '../../../../../src/shared/authz/engine/undecidable.ts'
import { UNKNOWN, VIOLATED, YES, type Verdict } from '../../../../../src/shared/authz/engine/verdict.ts'
import { OBJECTS, QUESTIONS, schemas, tupleTexts, type Shape } from '../../../../support/authz/arbitraries.ts'
import { referenceVerdicts } from '../../../../support/authz/reference.ts'
import { depth } from '../../../../support/run/depth.ts'
import { engineOf, tuple, type Answer } from '../../../../support/authz/tuples.ts'

const ANSWERS: { readonly [verdict: number]: Answer } = ['no', 'violated', 'unknown', 'yes']
const UNDECIDED = 'undecided'

/** Verdict of each caveat. */
const caveats = fc.record({
  weekday: fc.constantFrom<Verdict>(VIOLATED, UNKNOWN, YES),
  inside: fc.constantFrom<Verdict>(VIOLATED, UNKNOWN, YES),
})

interface World {
  readonly schema: string
  readonly tuples: readonly string[]
  readonly verdicts: { readonly [caveat: string]: Verdict }
}

const worlds = (operators: readonly string[], shape: Shape): fc.Arbitrary<World> =>
  fc.record({ schema: schemas(operators), tuples: tupleTexts(shape), verdicts: caveats })

function engineAnswers({ schema, tuples, verdicts }: World): string[] {
  const { ask } = engineOf(schema, tuples, ({ caveat }) => verdicts[caveat?.name ?? ''] ?? UNKNOWN)
  return QUESTIONS.map((question) => {
    try {
      return ask(question)
    } catch (error) {
      if (error instanceof UndecidableError) return UNDECIDED
      throw error
    }
  })
}

function referenceAnswers({ schema, tuples, verdicts }: World): string[] {
  const { model } = engineOf(schema, [])
  const weighed = tuples
    .map((text) => tuple(text))
    .map((each) => ({ tuple: each, verdict: verdicts[each.caveat_name] ?? YES }))
  const bySubject = new Map<string, ReturnType<typeof referenceVerdicts>>()
  return QUESTIONS.map((question) => {
    const [key = '', subject = ''] = question.split('@')
    const verdict = bySubject.get(subject) ?? referenceVerdicts({ model, tuples: weighed, objects: OBJECTS, subject })
    bySubject.set(subject, verdict)
    return ANSWERS[verdict(key) ?? -1] ?? UNDECIDED
  })
}

const RUNS = depth({ ci: 150, deep: 5_000 })

function forAll(world: fc.Arbitrary<World>, holds: (world: World) => void): void {
  fc.assert(fc.property(world, holds), { numRuns: RUNS })
}

test('unions and intersections mean what the schema says, also where groups and folders contain themselves', () => {
  forAll(worlds(['+', '&'], 'any'), (world) => {
    expect(engineAnswers(world)).toEqual(referenceAnswers(world))
  })
})

test('exclusions mean what the schema says', () => {
  forAll(worlds(['+', '&', '-'], 'acyclic'), (world) => {
    expect(engineAnswers(world)).toEqual(referenceAnswers(world))
  })
})

/** What a caveat denies is denied. */
const denied = (answer: string): string => (answer === 'violated' ? 'no' : answer)

test('an exclusion over a cycle is either answered rightly, though not by which denial, or not at all', () => {
  forAll(worlds(['+', '&', '-'], 'any'), (world) => {
    const answers = engineAnswers(world).map(denied)
    const reference = referenceAnswers(world).map(denied)
    expect(answers).toEqual(reference.map((right, at) => (answers[at] === UNDECIDED ? UNDECIDED : right)))
  })
})
