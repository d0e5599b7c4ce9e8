import { SchemaError, type Position } from './schema-error.ts'

export type TokenKind = 'identifier' | 'keyword' | 'punctuation' | 'terminator' | 'end'

/** One token. `comment` is the text of the comments directly before it. */
export interface Token {
  readonly kind: TokenKind
  readonly text: string
  readonly at: Position
  readonly comment: string
}

const KEYWORDS: ReadonlySet<string> = new Set(['definition', 'caveat', 'relation', 'permission', 'nil', 'with'])
const SPACE = /[ \t]+/y
const NEWLINE = /\r\n|\r|\n/y
const COMMENT = /\/\/[^\r\n]*|\/\*[^]*?\*\//y
const WORD = /[\p{L}\p{Nd}_]+/uy
const PUNCTUATION = /->|\.\.\.|[{}()|+&=:;#*<>,/.@-]/y

/** Punctuation after which a line break ends the statement, as after every word. */
const ENDS_STATEMENT: ReadonlySet<string> = new Set(['}', ')', '*'])

/** Cuts a schema text into tokens, on demand, so that the parser can take a caveat's expression as it stands. */
export interface Lexer {
  next(): Token
  /** Takes the text up to the `}` that closes an already opened `{`; strings and comments may hold braces. */
  rawUntilClosingBrace(): string
}

/** @throws SchemaError where a character starts no token. */
export function createLexer(text: string): Lexer {
  const state = { offset: 0, lineStart: 0, line: 1, comment: '', canTerminate: false }

  const position = (): Position => ({ line: state.line, column: state.offset - state.lineStart + 1 })

  function countLines(from: number, to: number): void {
    for (let i = from; i < to; i++) {
      if (text[i] !== '\n' && (text[i] !== '\r' || text[i + 1] === '\n')) continue
      state.line++
      state.lineStart = i + 1
    }
  }

  function match(pattern: RegExp): string | undefined {
    pattern.lastIndex = state.offset
    return pattern.exec(text)?.[0]
  }

  function advance(length: number): void {
    countLines(state.offset, state.offset + length)
    state.offset += length
  }

  function emit(kind: TokenKind, word: string): Token {
    const token = { kind, text: word, at: position(), comment: state.comment }
    if (kind !== 'terminator') state.comment = ''
    state.canTerminate = kind === 'identifier' || kind === 'keyword' || ENDS_STATEMENT.has(word)
    advance(word.length)
    return token
  }

  /** Passes blanks and comments; a line break that ends a statement is a token of its own. */
  function passBlanks(): Token | undefined {
    for (;;) {
      const newline = match(NEWLINE)
      if (newline !== undefined && state.canTerminate) {
        return emit('terminator', newline)
      }
      const comment = match(COMMENT)
      if (comment !== undefined) state.comment += `${comment}\n`
      const blank = newline ?? match(SPACE) ?? comment
      if (blank === undefined) return undefined
      advance(blank.length)
    }
  }

  function next(): Token {
    const terminator = passBlanks()
    if (terminator !== undefined) return terminator
    if (state.offset >= text.length) return emit('end', '')
    if (text.startsWith('/*', state.offset)) throw new SchemaError(position(), 'expected "*/" to end this comment')
    const word = match(WORD)
    if (word !== undefined) return emit(KEYWORDS.has(word) ? 'keyword' : 'identifier', word)
    const punctuation = match(PUNCTUATION)
    if (punctuation === ';') return emit('terminator', ';')
    if (punctuation !== undefined) return emit('punctuation', punctuation)
    throw new SchemaError(position(), `expected a name or punctuation, found ${quoted(text, state.offset)}`)
  }

  function rawUntilClosingBrace(): string {
    const start = state.offset
    const end = closingBrace(text, start)
    if (end === undefined) throw new SchemaError(position(), 'expected "}" to end this caveat')
    advance(end - start)
    return text.slice(start, end)
  }

  return { next, rawUntilClosingBrace }
}

function quoted(text: string, offset: number): string {
  return JSON.stringify(String.fromCodePoint(text.codePointAt(offset) ?? 0))
}

const CEL_PIECE = /\/\/[^\r\n]*|"""[^]*?"""|'''[^]*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^]/y

function closingBrace(text: string, from: number): number | undefined {
  let depth = 0
  for (let offset = from; offset < text.length;) {
    CEL_PIECE.lastIndex = offset
    const piece = CEL_PIECE.exec(text)?.[0] ?? ''
    if (piece === '}' && depth === 0) return offset
    if (piece === '{') depth++
    if (piece === '}') depth--
    offset += piece.length
  }
  return undefined
}
