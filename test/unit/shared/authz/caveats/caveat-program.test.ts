import { describe, expect, test } from 'vitest'
import { compileCaveat } from '../../../../../src/shared/authz/caveats/caveat-program.ts'
import type { CaveatModel } from '../../../../../src/shared/authz/model.ts'

/** Reads `name(a int, b list<string>) { expression }`. */
function caveat(text: string): CaveatModel {
  const [, name = '', fields = '', expression = ''] = /^(\w+)\((.*?)\) \{ ([^]*) \}$/.exec(text) ?? []
  const parameters = fields.split(', ').map((field) => {
    const [field_name = '', type = ''] = field.split(' ')
    return { name: field_name, type }
  })
  return { name, parameters, expression }
}

const ANSWERS = ['', 'fails', 'unknown', 'holds']

function told(text: string, values: Readonly<Record<string, unknown>>): string {
  const { verdict, missing } = compileCaveat(caveat(text)).evaluate(values)
  return [ANSWERS[verdict], ...missing].join(' ')
}

describe('a caveat over some of its values', () => {
  test.each([
    ['a && b', {}, 'unknown a b'],
    ['a && b', { a: true }, 'unknown b'],
    ['a && b', { a: false }, 'fails'],
    ['a && b', { b: false }, 'fails'],
    ['a || b', { b: true }, 'holds'],
    ['a || b', { a: false }, 'unknown b'],
    ['a ? b : !b', { a: true }, 'unknown b'],
    ['a ? b : !b', { b: true }, 'unknown a'],
    ['a == b', { b: true }, 'unknown a'],
    ['[a, b].exists(x, x)', { b: true }, 'unknown a'],
  ])('%s with %j: %s', (expression, values, answer) => {
    expect(told(`both(a bool, b bool) { ${expression} }`, values)).toBe(answer)
  })

  test('is unknown without a missing name where the expression fails or a value does not fit', () => {
    expect(told('some(a int) { 1 / a == 1 }', { a: 0 })).toBe('unknown')
    expect(told('some(a int) { a == 1 }', { a: 'one' })).toBe('unknown')
    expect(told('some(a int) { a == 1 }', { a: 1.5 })).toBe('unknown')
  })

  test('passes over values that are no parameters', () => {
    expect(told('some(a int) { a == 1 }', { a: 1, b: 2, constructor: 3 })).toBe('holds')
    expect(told('some(a int) { a == 1 }', { toString: 1 })).toBe('unknown a')
  })
})

test('an expression over large values ends', () => {
  const numbers = Array.from({ length: 2_000 }, (_, at) => at)
  const started = performance.now()
  const answer = told('vast(a list<int>) { a.exists(x, a.exists(y, a.exists(z, x + y + z < 0))) }', { a: numbers })
  expect(answer).toBe('unknown')
  expect(performance.now() - started).toBeLessThan(5_000)
})

test('a caveat is made ready once', () => {
  const model = caveat('some(a int) { a == 1 }')
  expect(compileCaveat(model)).toBe(compileCaveat(model))
})

describe('an expression is refused', () => {
  test.each([
    ['a == b', '1:6: expected a field of the caveat, found "b"'],
    ['a + 1', '1:1: expected an expression that results in bool, found int'],
    ['a == "one"', '1:3: expected operands that "==" takes, found int, string'],
    ['a.name == 1', '1:2: expected a map before ".name", found int'],
    ['a.startsWith("x")', '1:2: expected arguments that startsWith() takes, found (int, string)'],
    ['a == 1 &&\n  shout(a)', '2:3: expected a function of caveats, found "shout"'],
    ['a ==', '1:3: expected an expression in CEL, found "="'],
    ['a == 1 $', '1:8: expected an expression in CEL, found "$"'],
    ['true', '1:1: expected the expression to use "a"'],
    ['a == 9223372036854775808', '1:6: expected a number of 64 bits, found 9223372036854775808'],
    ['a in 3', '1:3: expected operands that "in" takes, found int, int'],
    ['3.all(x, x == a)', '1:2: expected a list or a map before the macro, found int'],
  ])('%s: %s', (expression, message) => {
    expect(() => compileCaveat(caveat(`some(a int) { ${expression} }`))).toThrow(message)
  })
})

test('an expression with many quotes of which none ends is refused at the first', () => {
  // Quotes in a schema end on their line, so that only a caller of this module can write it.
  const text = `some(a int) { a == 1 ${'\\"'.repeat(45_000)} }`
  expect(() => compileCaveat(caveat(text))).toThrow('expected a quote to end this text')
})
