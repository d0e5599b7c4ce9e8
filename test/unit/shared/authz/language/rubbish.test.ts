import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileSchema } from '../../../../../src/shared/authz/language/compile.ts'
import { parseSchema } from '../../../../../src/shared/authz/language/parser.ts'
import { SchemaError } from '../../../../../src/shared/authz/language/schema-error.ts'
import { SCHEMA_CASES } from '../../../../support/authz/schemas.ts'
import { depth } from '../../../../support/run/depth.ts'

/** The error of a text; undefined where it is taken. Anything but a SchemaError with a place in the text is a defect. */
function errorOf(text: string): SchemaError | undefined {
  try {
    compileSchema(parseSchema(text))
    return undefined
  } catch (error) {
    if (error instanceof SchemaError) return error
    throw error
  }
}

function expectVerdict(text: string): void {
  const error = errorOf(text)
  if (error === undefined) return
  const lines = text.split(/\r\n|\r|\n/)
  expect(error.message).toMatch(/^\d+:\d+: expected ./)
  expect(error.position.line).toBeLessThanOrEqual(lines.length)
  expect(error.position.column).toBeLessThanOrEqual((lines[error.position.line - 1]?.length ?? 0) + 1)
}

const WORDS =
  'definition caveat relation permission partial use import self expiration and with nil typechecking user doc ten/doc owner edit any all care int list map string true 1 2.5 "a" \'b\' { } ( ) [ ] < > | + & - -> . ... , : ; # * = == && || ! ? % / // /* */ \n \n \t \r @ $ \u00e4 \ud800 \u0000'
const words = fc.array(fc.constantFrom(...WORDS.split(' '), ' '), { maxLength: 60 }).map((list) => list.join(' '))

/** A text of the rules with a piece cut out, doubled or put elsewhere. */
const mutated = fc
  .tuple(fc.constantFrom(...SCHEMA_CASES), fc.nat(), fc.nat(40), fc.nat(), words)
  .map(([{ text }, at, length, to, word]) => {
    const from = at % (text.length + 1)
    const piece = text.slice(from, from + length)
    const target = to % (text.length + 1)
    const rest = to % 3 === 0 ? text : text.slice(0, from) + text.slice(from + length)
    return rest.slice(0, target) + (to % 2 === 0 ? piece : word.slice(0, 10)) + rest.slice(target)
  })

const caveats = words.map((text) => `caveat care(a any, b map<any>, c list<int>) {\n${text}\n}`)

describe('whatever is read as a schema, it is taken or refused with a place', () => {
  test.each([
    ['characters', fc.string({ unit: 'binary', maxLength: 200 })],
    ['words of the language', words],
    ['schemas with a mistake', mutated],
    ['caveats of words', caveats],
  ])('%s', { timeout: 120_000 }, (_, texts) => {
    fc.assert(fc.property(texts, expectVerdict), { numRuns: depth({ ci: 400, deep: 20_000 }) })
  })
})

describe('a long text is read in no more than a few seconds', () => {
  const user = 'definition user {\nrelation boss: user\n'
  const many = (count: number, piece: (at: number) => string) => Array.from({ length: count }, (_, at) => piece(at))
  test.each([
    ['definitions', many(20_000, (at) => `definition type${at} {}`).join('\n')],
    ['a chain of permissions', `${user}${many(20_000, (at) => `permission p${at}x = p${at + 1}x`).join('\n')}\n}`],
    ['arrows', `${user}${many(20_000, (at) => `permission p${at}x = boss->p${at + 1}x`).join('\n')}\n}`],
    ['operators', `${user}permission lead = ${'boss + boss - boss & '.repeat(40_000)}boss\n}`],
    ['subject types', `${user}relation crew: ${many(20_000, (at) => `user with c${at}`).join(' | ')}\n}`],
    ['parentheses', `${user}permission lead = ${'('.repeat(500_000)}`],
    ['brackets of types', `caveat care(a ${'list<'.repeat(200_000)}`],
    ['braces', `caveat care(a int) { ${'{'.repeat(500_000)}`],
    ['comments', '/* a */ // b\n'.repeat(200_000)],
    ['quotes', '"""'.repeat(300_000)],
    ['lines', '\n'.repeat(2_000_000)],
    ['a name', `definition ${'a/'.repeat(500_000)}`],
    [
      'doubling partials',
      `use partial\n${many(60, (at) => `partial p${at} {\n...p${at + 1}\n...p${at + 1}\n}`).join('\n')}`,
    ],
    ['conditions of an expression', `caveat care(a int) { ${'a == 1 && '.repeat(9_000)}a == 1 }`],
    ['sums of an expression', `caveat care(a int) { ${'a + '.repeat(24_000)}a == 1 }`],
    ['members of an expression', `caveat care(a any) { a${'.b'.repeat(24_000)} == 1 }`],
    ['brackets of an expression', `caveat care(a any) { ${'['.repeat(45_000)}a${']'.repeat(45_000)} == a }`],
    ['signs of an expression', `caveat care(a int) { ${'-'.repeat(90_000)}a == 1 }`],
    ['parted signs of an expression', `caveat care(a int) { ${'- '.repeat(45_000)}a == 1 }`],
    ['a choice of an expression', `caveat care(a bool) { ${'a ? a : '.repeat(12_000)}a }`],
    ['an expression', `caveat care(a int) { a == 1 //${'x'.repeat(200_000)}\n }`],
  ])('%s', { timeout: 60_000 }, (_, text) => {
    const started = process.cpuUsage()
    expectVerdict(text)
    const { user: own, system } = process.cpuUsage(started)
    expect((own + system) / 1e6).toBeLessThan(15)
  })
})
