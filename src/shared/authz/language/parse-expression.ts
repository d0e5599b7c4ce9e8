import type { ExpressionNode } from './ast.ts'
import { SchemaError } from './schema-error.ts'
import type { TokenCursor } from './token-cursor.ts'

type Operator = 'union' | 'intersection' | 'exclusion'

/** Binary operators from the loosest to the tightest; each is left-associative. `+` binds tightest, as in SpiceDB. */
const OPERATORS: readonly { readonly symbol: string; readonly kind: Operator }[] = [
  { symbol: '-', kind: 'exclusion' },
  { symbol: '&', kind: 'intersection' },
  { symbol: '+', kind: 'union' },
]

/** Depth of parentheses that a schema may have; a person writes three or four. */
const NESTING_MAX = 64

/**
 * Parses what follows the `=` of a permission.
 * `selfAllowed`: the schema says `use self`; without it `self` is an ordinary name.
 */
export function parseExpression(tokens: TokenCursor, selfAllowed: boolean): ExpressionNode {
  return parseBinary({ tokens, selfAllowed, depth: 0 }, 0)
}

interface Context {
  readonly tokens: TokenCursor
  readonly selfAllowed: boolean
  readonly depth: number
}

function parseBinary(context: Context, level: number): ExpressionNode {
  const operator = OPERATORS[level]
  if (operator === undefined) return parsePrimary(context)
  let left = parseBinary(context, level + 1)
  for (;;) {
    const symbol = context.tokens.tryTake(operator.symbol)
    if (symbol === undefined) return left
    left = { kind: operator.kind, left, right: parseBinary(context, level + 1), at: symbol.at }
  }
}

function parsePrimary(context: Context): ExpressionNode {
  const { tokens, depth } = context
  const open = tokens.tryTake('(')
  if (open !== undefined) {
    if (depth === NESTING_MAX) throw new SchemaError(open.at, `expected at most ${NESTING_MAX} nested parentheses`)
    const inner = parseBinary({ ...context, depth: depth + 1 }, 0)
    tokens.expect(')')
    return inner
  }
  const nil = tokens.tryTake('nil')
  if (nil !== undefined) return { kind: 'nil', at: nil.at }
  return parseReference(context)
}

function parseReference({ tokens, selfAllowed }: Context): ExpressionNode {
  const name = tokens.expectName('the name of a relation or permission, "self", "nil" or "("')
  if (selfAllowed && name.text === 'self') return { kind: 'self', at: name.at }
  const dot = tokens.tryTake('.')
  if (dot !== undefined) throw new SchemaError(dot.at, 'expected an operator: .any() and .all() are not supported')
  if (tokens.tryTake('->') === undefined) return { kind: 'reference', name: name.text, at: name.at }
  const target = tokens.expectName('the name of a relation or permission after "->"')
  if (selfAllowed && target.text === 'self') {
    throw new SchemaError(target.at, 'expected the name of a relation or permission after "->", found "self"')
  }
  if (tokens.peek().text === '->') tokens.fail('an operator: arrows cannot be chained')
  return { kind: 'arrow', relation: name.text, target: target.text, at: name.at }
}
