import type { CaveatNode } from './ast.ts'
import { parseTypeName } from './parse-definition.ts'
import type { Token } from './lexer.ts'
import { SchemaError } from './schema-error.ts'
import type { TokenCursor } from './token-cursor.ts'

/** Parses a caveat after its keyword. */
export function parseCaveat(tokens: TokenCursor): CaveatNode {
  const { at } = tokens.peek()
  const name = parseTypeName(tokens, 'a caveat name')
  tokens.expect('(')
  const fields = [parseField(tokens)]
  while (tokens.tryTake(',') !== undefined) fields.push(parseField(tokens))
  tokens.expect(')')
  const open = tokens.expect('{')
  const expression = parseCel(tokens, open)
  tokens.expect('}')
  return { name, at, fields, ...expression }
}

function parseField(tokens: TokenCursor): CaveatNode['fields'][number] {
  const { at, text: name } = tokens.expectName('a field name')
  return { name, at, type: parseFieldType(tokens, 0) }
}

/** Maximum nesting of a field type, such as a list of lists. */
const NESTING_MAX = 32

/** `int`, `list<string>`, `map<any>`. */
function parseFieldType(tokens: TokenCursor, depth: number): string {
  const { text, at } = tokens.expectName('a type')
  if (tokens.tryTake('<') === undefined) return text
  if (depth === NESTING_MAX) throw new SchemaError(at, `expected types nested at most ${NESTING_MAX} deep`)
  const inner = [parseFieldType(tokens, depth + 1)]
  while (tokens.tryTake(',') !== undefined) inner.push(parseFieldType(tokens, depth + 1))
  tokens.expect('>')
  return `${text}<${inner.join(',')}>`
}

/** Takes the text up to the `}` that matches the opening `{`. */
function parseCel(tokens: TokenCursor, open: Token): Pick<CaveatNode, 'expression' | 'expressionAt'> {
  const first = tokens.peek()
  let end = first.offset
  for (let depth = 0; depth > 0 || tokens.peek().text !== '}';) {
    const token = tokens.take()
    if (token.kind === 'end') throw new SchemaError(open.at, 'expected "}" to end this caveat')
    if (token.text === '{') depth++
    if (token.text === '}') depth--
    end = token.offset + token.text.length
  }
  const expression = tokens.slice(first.offset, end)
  if (expression === '') tokens.fail('an expression')
  return { expression, expressionAt: first.at }
}
