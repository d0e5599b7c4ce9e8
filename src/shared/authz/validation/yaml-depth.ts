import { Lexer } from 'yaml'

/** Maximum nesting of a validation file; the format itself has four levels. */
export const DEPTH_MAX = 64

const OPENING: ReadonlySet<string> = new Set(['[', '{'])
const CLOSING: ReadonlySet<string> = new Set([']', '}'])
/** Indicators that open a level without a new line: `- - - x`. */
const INDICATORS: ReadonlySet<string> = new Set(['-', '?'])

/**
 * The offset at which YAML is nested deeper than `DEPTH_MAX`; undefined if it is not. The parser builds a tree, and a
 * text of only brackets exhausts its memory. Indentation is not counted: it needs long lines.
 */
export function tooDeepAt(text: string): number | undefined {
  let offset = 0
  let flow = 0
  let line = 0
  for (const token of new Lexer().lex(text)) {
    if (OPENING.has(token)) flow++
    else if (CLOSING.has(token)) flow = Math.max(flow - 1, 0)
    else if (INDICATORS.has(token)) line++
    else if (token.includes('\n')) line = 0
    if (flow + line > DEPTH_MAX) return offset
    // Marks between documents have no characters in the text.
    offset += MARKS.has(token) ? 0 : token.length
  }
  return undefined
}

const MARKS: ReadonlySet<string> = new Set(['\u0002', '\u0018', '\u001f'])
