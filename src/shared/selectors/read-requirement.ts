import { SelectorFault, unexpected } from './fault.ts'
import { readKey } from './read-key.ts'
import { readValue } from './read-value.ts'
import { VALUES_MAX, type Key, type Requirement, type Value } from './syntax.ts'
import { isMark, type TokenCursor } from './token-cursor.ts'
import type { Token } from './tokens.ts'

/** What a requirement begins with. */
export const REQUIREMENT_START: readonly string[] = ['!', 'key']

/**
 * Reads one requirement and leaves the cursor behind it. `in` and `notin` are operators only directly after a key, so that a
 * key may have these names.
 * @throws SelectorFault
 */
export function readRequirement(cursor: TokenCursor, start: readonly string[]): Requirement {
  if (cursor.takes('!')) return { op: 'absent', key: takeKey(cursor, ['key']) }
  const key = takeKey(cursor, start)
  const operator = cursor.peek()
  if (operator.kind === 'mark') return compared(cursor, key, operator)
  if (operator.kind === 'word' && (operator.text === 'in' || operator.text === 'notin')) {
    cursor.take()
    return { op: operator.text, key, values: readList(cursor) }
  }
  return { op: 'exists', key }
}

function compared(cursor: TokenCursor, key: Key, operator: Token): Requirement {
  const op = COMPARISONS[operator.text]
  if (op === undefined) return { op: 'exists', key }
  cursor.take()
  const value = takeValue(cursor)
  if (op === 'in' || op === 'notin') return { op, key, values: [value] }
  return { op, key, value, operator: { offset: operator.offset, length: operator.length } }
}

const COMPARISONS: Readonly<Record<string, 'in' | 'notin' | 'lt' | 'gt'>> = {
  '=': 'in',
  '==': 'in',
  '!=': 'notin',
  '<': 'lt',
  '>': 'gt',
}

function readList(cursor: TokenCursor): readonly Value[] {
  if (!cursor.takes('(')) throw unexpected(cursor.peek(), ['('])
  const values: Value[] = []
  do {
    if (values.length === VALUES_MAX) throw tooManyValues(cursor.peek())
    values.push(takeValue(cursor))
  } while (cursor.takes(','))
  if (!isMark(cursor.peek(), ')')) throw unexpected(cursor.peek(), [',', ')'])
  cursor.take()
  return values
}

function tooManyValues({ offset, length }: Token): SelectorFault {
  const message = `A list has at most ${VALUES_MAX} values.`
  return new SelectorFault({ offset, length, code: 'too_long', message, expected: [')'] })
}

/** The token is read before it is taken: where it is refused, the cursor still stands before it. */
function takeKey(cursor: TokenCursor, expected: readonly string[]): Key {
  const key = readKey(cursor.peek(), expected)
  cursor.take()
  return key
}

function takeValue(cursor: TokenCursor): Value {
  const value = readValue(cursor.peek())
  cursor.take()
  return value
}
