import { parse } from '@bufbuild/cel'
import { ExpressionError } from './check-expression.ts'
import { childrenOf, type Parsed } from './expression.ts'

/** Characters of an expression, as SpiceDB has it. */
const CHARACTERS_MAX = 100_000

/** Brackets within brackets. The parser's time grows steeply with them; usual expressions have three or four. */
const NESTING_MAX = 64

/** @throws ExpressionError where the text is not an expression of CEL. */
export function parseExpressionText(text: string): Parsed {
  if (text.length > CHARACTERS_MAX) {
    throw new ExpressionError(0, `expected an expression of at most ${CHARACTERS_MAX} characters`)
  }
  checkPieces(text)
  try {
    const parsed = parse(text.replaceAll(BLANKS, closeUp))
    checkWords(parsed, text)
    return parsed
  } catch (error) {
    if (error instanceof ExpressionError) throw error
    throw parseFailure(error)
  }
}

const PIECE = /\/\/[^\n]*|(?:rb?|br?)?(?:"""[^]*?"""|'''[^]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|[([{)\]}]/giy

const QUOTES: ReadonlySet<string> = new Set(['"', "'"])

/** Checks inputs for which the parser is slow or too lenient. */
function checkPieces(text: string): void {
  let depth = 0
  for (let at = 0; at < text.length;) {
    PIECE.lastIndex = at
    const piece = PIECE.exec(text)?.[0] ?? ' '
    // Fail at once: otherwise every later quote would start another fruitless search for the end.
    if (piece === ' ' && QUOTES.has(text.charAt(at))) throw new ExpressionError(at, 'expected a quote to end this text')
    if ('([{'.includes(piece)) depth++
    else if (')]}'.includes(piece)) depth--
    else if (/^b?['"]/i.test(piece)) checkEscapes(piece, at)
    if (depth > NESTING_MAX) throw new ExpressionError(at, `expected at most ${NESTING_MAX} nested brackets`)
    at += piece.length
  }
}

/**
 * The parser rejects blanks in empty arguments and between signs, `! !a`; quoted texts and comments are kept
 * unchanged.
 */
const BLANKS =
  /\/\/[^\n]*|"""[^]*?"""|'''[^]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\(\s+\)|(?<sign>[!-])(?:\s*\k<sign>)*/g

/** Keeps the offset of every other character. */
function closeUp(piece: string): string {
  if (/^\(\s/.test(piece)) return `()${piece.slice(1, -1)}`
  return /^[!-]/.test(piece) ? piece.replaceAll(/\s/g, '').padStart(piece.length) : piece
}

/** The parser reads `ina` as `in a`. */
function checkWords({ expr, sourceInfo }: Parsed, text: string): void {
  if (expr === undefined || !/\bin\w/.test(text)) return
  const pending = [expr]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    pending.push(...childrenOf(node))
    const at = sourceInfo?.positions[String(node.id)] ?? 0
    const isIn = node.exprKind.case === 'callExpr' && node.exprKind.value.function === '@in'
    if (isIn && /^\s*in\w/.test(text.slice(at))) throw new ExpressionError(at, 'expected a blank after "in"')
  }
}

const ESCAPED = /(?:[^\\]|\\(?:[abfnrtv\\?"'`]|[xX][\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[0-3][0-7]{2}))*/y

function checkEscapes(text: string, at: number): void {
  ESCAPED.lastIndex = 0
  const length = ESCAPED.exec(text)?.[0].length ?? 0
  const isBytes = /^b/i.test(text)
  if (isBytes && /\\u/i.test(text)) throw new ExpressionError(at, 'expected bytes without "\\u"')
  if (length < text.length) throw new ExpressionError(at + length, 'expected an escape of CEL after "\\"')
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
