import { ADDRESSES_CASES } from './caveat-cases/addresses.ts'
import { COLLECTIONS_CASES } from './caveat-cases/collections.ts'
import type { ExpressionCase } from './caveat-cases/expression-case.ts'
import { NUMBERS_CASES } from './caveat-cases/numbers.ts'
import { PARTIAL_CASES } from './caveat-cases/partial.ts'
import { TIMES_CASES } from './caveat-cases/times.ts'

/** What expressions of caveats come to. SpiceDB evaluates the same ones in its contract test. */
export const EXPRESSION_CASES: readonly ExpressionCase[] = [
  ...NUMBERS_CASES,
  ...COLLECTIONS_CASES,
  ...TIMES_CASES,
  ...ADDRESSES_CASES,
  ...PARTIAL_CASES,
]

/** The text of a caveat in the schema language. */
export function caveatText(name: string, fields: string, expression: string): string {
  return `caveat ${name}(${fields}) {\n    ${expression}\n}\n`
}
