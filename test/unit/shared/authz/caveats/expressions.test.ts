import { describe, expect, test } from 'vitest'
import { compileCaveat } from '../../../../../src/shared/authz/caveats/caveat-program.ts'
import type { CaveatModel } from '../../../../../src/shared/authz/model.ts'
import { compileSchema } from '../../../../../src/shared/authz/language/compile.ts'
import { parseSchema } from '../../../../../src/shared/authz/language/parser.ts'
import { caveatText, EXPRESSION_CASES } from '../../../../support/authz/caveat-cases.ts'
import { CONVERSION_CASES } from '../../../../support/authz/caveat-cases/conversions.ts'
import { EXPRESSION_EXCLUSIONS } from '../../../../support/authz/caveat-cases/expression-case.ts'

const ANSWERS = ['', 'no', 'unknown', 'yes']

function caveat(fields: string, expression: string): CaveatModel {
  const model = compileSchema(parseSchema(caveatText('asked', fields, expression))).caveats.get('asked')
  if (model === undefined) throw new Error('no caveat')
  return model
}

/** `error` stands for an answer that is not known although nothing is missing. */
function told(fields: string, expression: string, values: Readonly<Record<string, unknown>>): string {
  const { verdict, missing } = compileCaveat(caveat(fields, expression)).evaluate(values)
  const answer = ANSWERS[verdict] ?? ''
  return answer === 'unknown' && missing.length === 0 ? 'error' : answer
}

describe.each(EXPRESSION_CASES)('over $fields = $values', ({ fields, values, answers }) => {
  test.each(Object.entries(answers))('%s: %s', (expression, answer) => {
    expect(told(fields, expression, values)).toBe(answer)
  })
})

test.each(EXPRESSION_EXCLUSIONS)('$expression: $ours', ({ fields, values, expression, ours }) => {
  expect(told(fields, expression, values)).toBe(ours === 'unknown' ? 'error' : ours)
})

describe.each(CONVERSION_CASES)('a field of type $type', ({ type, fits, doesNotFit }) => {
  const asked = (value: unknown) => told(`a ${type}`, '[a].size() == 1', { a: value })
  test.each(fits.map((value) => [value]))('takes %j', (value) => {
    expect(asked(value)).toBe('yes')
  })
  test.each(doesNotFit.map((value) => [value]))('does not take %j', (value) => {
    expect(asked(value)).toBe('error')
  })
})
