import { SchemaError, type Position } from './schema-error.ts'

export type TokenKind = 'identifier' | 'keyword' | 'punctuation' | 'string' | 'terminator' | 'end'

/** One token. `comment` is the text of the comments directly before it. */
export interface Token {
  readonly kind: TokenKind
  readonly text: string
  readonly at: Position
  /** Offset of its first character in the text. */
  readonly offset: number
  readonly comment: string
}

const KEYWORDS: readonly string[] = ['definition', 'caveat', 'relation', 'permission', 'nil', 'with']

/** Features that `use` enables, with the names that each makes keywords. */
export const FEATURES: { readonly [feature: string]: readonly string[] } = {
  expiration: ['expiration', 'and'],
  import: ['import'],
  partial: ['partial'],
  self: ['self'],
  typechecking: ['typechecking'],
}

const SPACE = /[ \t]+/y
const NEWLINE = /\r\n|\r|\n/y
const COMMENT = /\/\/[^\r\n]*|\/\*[^]*?\*\//y
const WORD = /[\p{L}\p{Nd}_]+/uy
const PUNCTUATION = /->|\.\.\.|\|\||&&|[!<>=]=|[{}()[\]|+&=:;#*<>,/.?!%-]/y

/**
 * Quoted text, without escapes. As in SpiceDB, text that begins with three single quotes ends with three double quotes.
 */
const STRING = /"""[^]*?"""|'''[^]*?"""|"(?!"")[^"\r\n]*"|'(?!'')[^'\r\n]*'/y

/** Punctuation after which a line break ends the statement, as after every word. */
const ENDS_STATEMENT: ReadonlySet<string> = new Set(['}', ')', '*'])

/** Splits a schema text into tokens on demand: `use` turns later names into keywords. */
export interface Lexer {
  /** @throws SchemaError if the next character starts no token. */
  next(): Token
}

export function createLexer(text: string): Lexer {
  const keywords = new Set(KEYWORDS)
  const state = { offset: 0, lineStart: 0, line: 1, comment: '', canTerminate: false }
  /** Whether `use` was the last token; undefined after the first definition or caveat, where `use` has no effect. */
  let afterUse: boolean | undefined = false

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
    const token = { kind, text: word, at: position(), offset: state.offset, comment: state.comment }
    if (kind !== 'terminator') state.comment = ''
    state.canTerminate = kind === 'identifier' || kind === 'keyword' || ENDS_STATEMENT.has(word)
    advance(word.length)
    return token
  }

  /** Skips whitespace and comments. A line break that ends a statement is a token. */
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

  function emitWord(word: string): Token {
    if (afterUse === true && Object.hasOwn(FEATURES, word)) for (const each of FEATURES[word] ?? []) keywords.add(each)
    const kind = keywords.has(word) ? 'keyword' : 'identifier'
    if (word === 'definition' || word === 'caveat') afterUse = undefined
    if (afterUse !== undefined) afterUse = word === 'use'
    return emit(kind, word)
  }

  function next(): Token {
    const terminator = passBlanks()
    if (terminator !== undefined) return terminator
    if (state.offset >= text.length) return emit('end', '')
    const word = match(WORD)
    if (word !== undefined) return emitWord(word)
    const string = match(STRING)
    if (string !== undefined) return emit('string', string)
    return emitPunctuation()
  }

  function emitPunctuation(): Token {
    if (text.startsWith('/*', state.offset)) throw new SchemaError(position(), 'expected "*/" to end this comment')
    const punctuation = match(PUNCTUATION)
    if (punctuation === ';') return emit('terminator', ';')
    if (punctuation !== undefined) return emit('punctuation', punctuation)
    if (/['"]/.test(text.charAt(state.offset))) throw new SchemaError(position(), 'expected a quote to end this text')
    throw new SchemaError(position(), `expected a name or punctuation, found ${quoted(text, state.offset)}`)
  }

  return { next }
}

function quoted(text: string, offset: number): string {
  return JSON.stringify(String.fromCodePoint(text.codePointAt(offset) ?? 0))
}
