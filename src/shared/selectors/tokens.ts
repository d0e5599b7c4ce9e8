import type { Span } from './syntax.ts'

/**
 * `word`: a key, a bare value, `in` or `notin`. `string`: a quoted text with its end. `unclosed`: one without. `mark`:
 * punctuation. `stray`: characters that begin no token.
 */
export type TokenKind = 'word' | 'string' | 'unclosed' | 'mark' | 'stray' | 'end'

/** A token with its source text and its place in UTF-8 bytes. */
export interface Token extends Span {
  readonly kind: TokenKind
  readonly text: string
}

const BLANK = /[ \t\r\n]+/y
const FORMS: readonly (readonly [TokenKind, RegExp])[] = [
  ['word', /[A-Za-z0-9._:@+/-]+/y],
  ['string', /"(?:[^"\\]|\\[^])*"/y],
  ['unclosed', /"[^]*/y],
  ['mark', /==|!=|[=!<>(),*]/y],
  ['stray', /[^ \t\r\nA-Za-z0-9._:@+/"=!<>(),*-]+/y],
]

/** The size of a text in UTF-8 bytes. A lone surrogate takes three, as the replacement character does. */
export function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length
}

/** All tokens of a text; the last one is its end. White space is between tokens and has none. */
export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = []
  let [index, offset] = [0, 0]
  while (index < text.length) {
    const { kind, found } = tokenAt(text, index)
    const length = utf8Length(found)
    if (kind !== undefined) tokens.push({ kind, text: found, offset, length })
    index += found.length
    offset += length
  }
  return [...tokens, { kind: 'end', text: '', offset, length: 0 }]
}

/** The token at a place, or the white space there. Every character begins one of the forms. */
function tokenAt(text: string, index: number): { kind: TokenKind | undefined; found: string } {
  const blank = match(BLANK, text, index)
  if (blank !== undefined) return { kind: undefined, found: blank }
  for (const [kind, form] of FORMS) {
    const found = match(form, text, index)
    if (found !== undefined) return { kind, found }
  }
  throw new Error(`no form takes the character at ${index}`)
}

function match(form: RegExp, text: string, index: number): string | undefined {
  form.lastIndex = index
  return form.exec(text)?.[0]
}
