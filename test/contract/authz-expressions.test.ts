import { describe, expect, test } from 'vitest'
import { caveatText, EXPRESSION_CASES } from '../support/authz/caveat-cases.ts'
import { CONVERSION_CASES } from '../support/authz/caveat-cases/conversions.ts'
import { EXPRESSION_EXCLUSIONS } from '../support/authz/caveat-cases/expression-case.ts'
import { tuple } from '../support/authz/tuples.ts'
import { requirement } from '../support/run/requirements.mjs'
import { startOracle } from '../support/authz/spicedb-oracle.ts'

interface Asked {
  readonly fields: string
  readonly expression: string
  readonly values: Readonly<Record<string, unknown>>
  readonly answer: string
}

const EXPRESSIONS: readonly Asked[] = [
  ...EXPRESSION_CASES.flatMap(({ fields, values, answers }) =>
    Object.entries(answers).map(([expression, answer]) => ({ fields, values, expression, answer })),
  ),
  ...EXPRESSION_EXCLUSIONS.map(({ spicedb, ...each }) => ({ ...each, answer: spicedb })),
]

const CONVERSIONS: readonly Asked[] = CONVERSION_CASES.flatMap(({ type, fits, doesNotFit }) => {
  const asked = (value: unknown, answer: string): Asked => {
    return { fields: `a ${type}`, expression: '[a].size() == 1', values: { a: value }, answer }
  }
  return [...fits.map((value) => asked(value, 'yes')), ...doesNotFit.map((value) => asked(value, 'error'))]
})

/** Each as a caveat of its own on a relation of its own. */
function schemaOf(asked: readonly Asked[]): string {
  const caveats = asked.map(({ fields, expression }, at) => caveatText(`asked${at}`, fields, expression)).join('')
  const relations = asked.map((_, at) => `    relation holder${at}: user with asked${at}\n`).join('')
  return `${caveats}definition user {}\ndefinition doc {\n${relations}}\n`
}

describe.skipIf(requirement('spicedb') === undefined)('real SpiceDB, evaluating any caveat', () => {
  test.each([
    ['expressions', EXPRESSIONS],
    ['values that fit a type and such that do not', CONVERSIONS],
  ])('answers alike: %s', { timeout: 300_000 }, async (_, asked) => {
    const oracle = startOracle()
    const answers = await oracle
      .ask({
        schema: schemaOf(asked),
        tuples: asked.map((_each, at) => tuple(`doc:one#holder${at}@user:ann[asked${at}]`)),
        checks: asked.map(({ values }, at) => ({
          resource: ['doc', 'one'],
          permission: `holder${at}`,
          subject: ['user', 'ann'],
          context: values,
        })),
      })
      .finally(() => oracle.close())
    const told = (list: readonly string[]) => asked.map((each, at) => ({ ...each, answer: list[at] }))
    expect(told(answers.map((answer) => answer.replace(/:.*$/s, '')))).toEqual(asked)
  })
})
