import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { UNKNOWN, VIOLATED, YES, type Verdict } from '../../src/shared/authz/engine/verdict.ts'
import type { Model } from '../../src/shared/authz/model.ts'
import { SCHEMA } from '../../src/shared/authz/schema.ts'
import { SERVICE_MODEL } from '../../src/shared/authz/service-model.ts'
import type { TupleColumns } from '../../src/shared/authz/tuple.ts'
import { QUESTIONS, schemas, tupleTexts } from '../support/authz/arbitraries.ts'
import { SCHEMA_CASES } from '../support/authz/schemas.ts'
import { serviceQuestions, serviceTuples } from '../support/authz/service-arbitraries.ts'
import { engineOf, tuple, type Answer } from '../support/authz/tuples.ts'
import { depth } from '../support/run/depth.ts'
import { requirement } from '../support/run/requirements.mjs'
import { startOracle, type Oracle, type OracleCheck } from '../support/authz/spicedb-oracle.ts'

/** The tuple in the spelling of the schema, as SpiceDB keeps it. */
function engineTuple(model: Model, columns: TupleColumns): TupleColumns {
  const subject = model.type(columns.subject_type)?.askable.get(columns.subject_relation)
  const relation = model.type(columns.resource_type)?.writable.get(columns.relation)
  return { ...columns, relation: relation?.engineName ?? '', subject_relation: subject?.engineName ?? '' }
}

/** A question `resource:id#relation@subject:id` in the spelling of the schema. */
function oracleCheck(model: Model, question: string, context: Readonly<Record<string, unknown>>): OracleCheck {
  const [, type = '', id = '', name = '', subjectType = '', subjectId = ''] =
    /^(\w+):(.+)#([\w-]+)@(\w+):(.+)$/.exec(question) ?? []
  const permission = model.type(type)?.askable.get(name)?.engineName ?? ''
  return { resource: [type, id], permission, subject: [subjectType, subjectId], context }
}

/** SpiceDB tells a caveat that does not hold from no relation at all only by its word for what is missing. */
const asSpicedb = (answer: Answer): string => (answer === 'violated' ? 'no' : answer)

/** SpiceDB keeps one tuple for subject, relation and resource, whatever its caveat: the last one written. */
function onePerBinding(texts: readonly string[]): string[] {
  return [...new Map(texts.map((text) => [text.replace(/\[.*$/, ''), text])).values()]
}

describe.skipIf(requirement('spicedb') === undefined)('real SpiceDB', () => {
  let oracle: Oracle
  beforeAll(() => {
    oracle = startOracle()
  })
  afterAll(() => oracle.close())

  async function judged(text: string): Promise<string> {
    const answer = oracle.ask({ schema: text, tuples: [], checks: [] })
    return answer.then(
      () => 'taken',
      () => 'refused',
    )
  }

  test('takes the schema of the service as it stands', async () => {
    expect(await oracle.ask({ schema: SCHEMA, tuples: [], checks: [] })).toEqual([])
  })

  test.each(SCHEMA_CASES.filter(({ exclusion }) => exclusion === undefined))('judges alike: $rule', async (each) => {
    expect(await judged(each.text)).toBe(each.error === undefined ? 'taken' : 'refused')
  })

  test.each(SCHEMA_CASES.filter(({ exclusion }) => exclusion !== undefined))(
    'judges otherwise, by the named exclusion: $rule ($exclusion)',
    async (each) => {
      expect(await judged(each.text)).toBe(each.error === undefined ? 'refused' : 'taken')
    },
  )

  interface World {
    readonly schema: string
    readonly model: Model
    readonly tuples: readonly string[]
    readonly questions: readonly string[]
    readonly verdicts: Readonly<Record<string, Verdict>>
    readonly context: Readonly<Record<string, unknown>>
  }

  async function expectAgreement({ schema, model, tuples, questions, verdicts, context }: World): Promise<void> {
    const { ask } = engineOf(model, tuples, ({ caveat }) => verdicts[caveat?.name ?? ''] ?? UNKNOWN)
    const ours = questions.map((question) => `${question} ${asSpicedb(ask(question))}`)
    const answers = await oracle.ask({
      schema,
      tuples: tuples.map((text) => engineTuple(model, tuple(text))),
      checks: questions.map((question) => oracleCheck(model, question, context)),
    })
    expect(ours).toEqual(questions.map((question, at) => `${question} ${answers[at]}`))
  }

  test('agrees on every question over random tuples of the service', { timeout: 600_000 }, async () => {
    const world = fc.record({ tuples: serviceTuples.map(onePerBinding) })
    await fc.assert(
      fc.asyncProperty(world, async ({ tuples }) => {
        const model = SERVICE_MODEL
        await expectAgreement({ schema: SCHEMA, model, tuples, questions: serviceQuestions, verdicts: {}, context: {} })
      }),
      { numRuns: depth({ ci: 8, deep: 200 }) },
    )
  })

  test('agrees on random schemas, tuples and caveats', { timeout: 1_800_000 }, async () => {
    const caveats = fc.record({
      weekday: fc.constantFrom<Verdict>(VIOLATED, UNKNOWN, YES),
      inside: fc.constantFrom<Verdict>(VIOLATED, UNKNOWN, YES),
    })
    const world = fc.record({
      schema: schemas(['+', '&', '-']),
      tuples: tupleTexts('acyclic').map(onePerBinding),
      verdicts: caveats,
    })
    await fc.assert(
      fc.asyncProperty(world, async ({ schema, tuples, verdicts }) => {
        const { model } = engineOf(schema, [])
        const context = {
          ...(verdicts.weekday !== UNKNOWN && { day: verdicts.weekday === YES ? 'weekday' : 'sunday' }),
          ...(verdicts.inside !== UNKNOWN && { place: verdicts.inside === YES ? 'inside' : 'outside' }),
        }
        await expectAgreement({ schema, model, tuples, questions: QUESTIONS, verdicts, context })
      }),
      { numRuns: depth({ ci: 60, deep: 1_000 }) },
    )
  })
})
