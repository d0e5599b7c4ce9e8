import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { UndecidableError } from '../../../../../../src/shared/authz/engine/undecidable.ts'
import { explain } from '../../../../../../src/shared/authz/engine/explain/explain.ts'
import { UNKNOWN, VIOLATED, YES, type Verdict } from '../../../../../../src/shared/authz/engine/verdict.ts'
import type { ExplainedCheck, Explanation } from '../../../../../../src/shared/authz/explanation.ts'
import { QUESTIONS, schemas, tupleTexts, type Shape } from '../../../../../support/authz/arbitraries.ts'
import { depth } from '../../../../../support/run/depth.ts'
import { engineOf, tuple } from '../../../../../support/authz/tuples.ts'

interface World {
  readonly schema: string
  readonly tuples: readonly string[]
  readonly verdicts: { readonly [caveat: string]: Verdict }
}

const caveats = fc.record({
  weekday: fc.constantFrom<Verdict>(VIOLATED, UNKNOWN, YES),
  inside: fc.constantFrom<Verdict>(VIOLATED, UNKNOWN, YES),
})

const worlds = (operators: readonly string[], shape: Shape): fc.Arbitrary<World> =>
  fc.record({ schema: schemas(operators), tuples: tupleTexts(shape), verdicts: caveats })

const RUNS = depth({ ci: 15, deep: 2_000 })

interface Explained {
  readonly question: string
  readonly answer: string
  readonly explained: ExplainedCheck
}

/** Every question with its answer and its explanation, of those that can be answered. */
function explainAll(world: World): {
  readonly all: readonly Explained[]
  readonly engine: ReturnType<typeof engineOf>
} {
  const holds = ({ caveat }: { caveat: { name: string } | undefined }) => world.verdicts[caveat?.name ?? ''] ?? UNKNOWN
  const engine = engineOf(world.schema, world.tuples, holds)
  const options = { holds, missing: () => ['day'], mayBind: () => true }
  const all = QUESTIONS.flatMap((question) => {
    const [asked = '', subject = ''] = question.split('@')
    const [resource = '', relation = ''] = asked.split('#')
    try {
      const answer = engine.ask(question)
      const explained = explain(engine, { subject, relation, resource }, options)
      if ('reason' in explained) throw new Error(`${question} cannot be asked`)
      return [{ question, answer, explained }]
    } catch (error) {
      if (error instanceof UndecidableError) return []
      throw error
    }
  })
  return { all, engine }
}

const OUTCOMES: { readonly [answer: string]: string } = {
  yes: 'granted',
  no: 'denied',
  violated: 'denied',
  unknown: 'conditional',
}

function nodesOf(node: Explanation): Explanation[] {
  return [node, ...node.parts.flatMap(nodesOf)]
}

/** What does not follow from the parts that are shown. */
function unfounded(node: Explanation): Explanation[] {
  return nodesOf(node).filter(({ kind, outcome, parts, omitted }) => {
    if (omitted !== undefined || kind === 'self' || kind === 'tuple') return false
    if (outcome !== 'granted') return false
    return parts.length === 0 || parts.some((part) => part.outcome !== 'granted')
  })
}

function forAll(operators: readonly string[], shape: Shape, holds: (world: World) => void): void {
  fc.assert(fc.property(worlds(operators, shape), holds), { numRuns: RUNS })
}

test.each(['acyclic', 'any'] as const)('an explanation says what the check says (%s)', (shape) => {
  forAll(['+', '&', '-', 'all'], shape, (world) => {
    for (const { answer, explained } of explainAll(world).all) {
      expect(explained.outcome).toBe(OUTCOMES[answer])
      expect(explained.tree.outcome).toBe(OUTCOMES[answer])
    }
  })
})

test('what is granted is shown with a proof that does not rest on itself', () => {
  forAll(['+', '&', '-', 'all'], 'any', (world) => {
    for (const { answer, explained } of explainAll(world).all) {
      if (answer !== 'yes') continue
      expect(unfounded(explained.tree)).toEqual([])
      expect(nodesOf(explained.tree).filter(({ omitted }) => omitted === 'cycle')).toEqual([])
    }
  })
})

test('each remedy grants what was denied, and trying it leaves the tuples as they were', () => {
  forAll(['+', '&', '-', 'all'], 'acyclic', (world) => {
    const { all, engine } = explainAll(world)
    for (const { question, answer, explained } of all) {
      if (answer === 'yes') expect(explained.remedies).toEqual([])
      expect(engine.ask(question)).toBe(answer)
      for (const remedy of explained.remedies) {
        const texts = remedy.map(({ subject, relation, resource }) => `${resource}#${relation}@${subject}`)
        const added = [...new Set([...world.tuples, ...texts])]
        const { ask } = engineOf(engine.model, added, ({ caveat }) => world.verdicts[caveat?.name ?? ''] ?? UNKNOWN)
        expect(ask(question)).toBe('yes')
      }
    }
    expect(engine.index.edges.size).toBe(engineOf(engine.model, world.tuples).index.edges.size)
    for (const text of world.tuples) expect(engine.index.touch(tuple(text), 0)).toBe('unchanged')
  })
})
