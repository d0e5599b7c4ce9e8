import type { ArrowNode, ExpressionNode } from './ast.ts'
import { SchemaError } from './schema-error.ts'
import type { TokenCursor } from './token-cursor.ts'

type Operator = 'union' | 'intersection' | 'exclusion'

/** Binary operators from the loosest to the tightest; each is left-associative. `+` binds tightest, as in SpiceDB. */
const OPERATORS: readonly { readonly symbol: string; readonly kind: Operator }[] = [
  { symbol: '-', kind: 'exclusion' },
  { symbol: '&', kind: 'intersection' },
  { symbol: '+', kind: 'union' },
]

/** Maximum depth of parentheses; people write three or four. */
const NESTING_MAX = 64

const ARROW_KINDS: { readonly [name: string]: ArrowNode['kind'] } = { any: 'arrow', all: 'all' }

/** Parses the expression of a permission, after the `=`. */
export function parseExpression(tokens: TokenCursor): ExpressionNode {
  return parseBinary({ tokens, depth: 0 }, 0)
}

interface Context {
  readonly tokens: TokenCursor
  readonly depth: number
}

function parseBinary(context: Context, level: number): ExpressionNode {
  const operator = OPERATORS[level]
  if (operator === undefined) return parsePrimary(context)
  const first = parseBinary(context, level + 1)
  const { at } = context.tokens.peek()
  const parts = [first]
  while (context.tokens.tryTake(operator.symbol) !== undefined) parts.push(parseBinary(context, level + 1))
  return parts.length === 1 ? first : { kind: operator.kind, parts, at }
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
  const word = tokens.tryTake('nil') ?? tokens.tryTake('self')
  if (word !== undefined) return { kind: word.text === 'nil' ? 'nil' : 'self', at: word.at }
  return parseReference(tokens)
}

function parseReference(tokens: TokenCursor): ExpressionNode {
  const { text: relation, at } = tokens.expectName('the name of a relation or permission, "self", "nil" or "("')
  const arrow = parseArrow(tokens)
  if (arrow === undefined) return { kind: 'reference', name: relation, at }
  const next = tokens.peek().text
  if (next === '->' || next === '.') tokens.fail('an operator: arrows cannot be chained')
  return { ...arrow, relation, at }
}

type Target = Pick<ArrowNode, 'kind' | 'target' | 'targetAt'>

/** `->target`, `.any(target)` or `.all(target)`. */
function parseArrow(tokens: TokenCursor): Target | undefined {
  if (tokens.tryTake('->') !== undefined) return parseTarget(tokens, 'arrow', '"->"')
  if (tokens.tryTake('.') === undefined) return undefined
  const name = tokens.expectName('"any" or "all" after "."')
  const kind = Object.hasOwn(ARROW_KINDS, name.text) ? ARROW_KINDS[name.text] : undefined
  if (kind === undefined) throw new SchemaError(name.at, `expected "any" or "all" after ".", found "${name.text}"`)
  tokens.expect('(')
  const target = parseTarget(tokens, kind, `".${name.text}("`)
  tokens.expect(')')
  return target
}

function parseTarget(tokens: TokenCursor, kind: ArrowNode['kind'], behind: string): Target {
  const { text: target, at: targetAt } = tokens.expectName(`the name of a relation or permission after ${behind}`)
  return { kind, target, targetAt }
}
