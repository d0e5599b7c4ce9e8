import { parse } from '@bufbuild/cel'
import { ExpressionError } from './check-expression.ts'
import type { Parsed } from './expression.ts'

/** Characters of an expression, as SpiceDB has it. */
const CHARACTERS_MAX = 100_000

/** Brackets within brackets. The parser's time rises steeply with them; people write three or four. */
const NESTING_MAX = 64

/** @throws ExpressionError where the text is not an expression of CEL. */
export function parseExpressionText(text: string): Parsed {
  if (text.length > CHARACTERS_MAX) {
    throw new ExpressionError(0, `expected an expression of at most ${CHARACTERS_MAX} characters`)
  }
  checkNesting(text)
  try {
    return parse(text)
  } catch (error) {
    throw parseFailure(error)
  }
}

const PIECE = /\/\/[^\n]*|r?(?:"""[^]*?"""|'''[^]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|[([{)\]}]/giy

function checkNesting(text: string): void {
  let depth = 0
  for (let at = 0; at < text.length;) {
    PIECE.lastIndex = at
    const piece = PIECE.exec(text)?.[0] ?? ' '
    if ('([{'.includes(piece)) depth++
    else if (')]}'.includes(piece)) depth--
    if (depth > NESTING_MAX) throw new ExpressionError(at, `expected at most ${NESTING_MAX} nested brackets`)
    at += piece.length
  }
}

interface SyntaxFailure {
  readonly location: { readonly start: { readonly offset: number } }
  readonly rawMessage: string
  /** Null at the end of the text; undefined where what was found is no mere syntax error. */
  readonly found?: string | null
}

function isSyntaxFailure(error: unknown): error is SyntaxFailure {
  return error instanceof Error && 'location' in error && 'rawMessage' in error
}

function parseFailure(error: unknown): ExpressionError {
  if (error instanceof RangeError) return new ExpressionError(0, 'expected an expression that is nested less deeply')
  if (!isSyntaxFailure(error)) return new ExpressionError(0, `expected an expression in CEL: ${String(error)}`)
  const { found, location, rawMessage } = error
  const what = found === null ? ', found its end' : found === undefined ? `: ${rawMessage}` : `, found "${found}"`
  return new ExpressionError(location.start.offset, `expected an expression in CEL${what}`)
}
