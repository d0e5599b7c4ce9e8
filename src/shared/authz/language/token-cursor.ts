import { createLexer, type Token, type TokenKind } from './lexer.ts'
import { SchemaError } from './schema-error.ts'

/**
 * Reads the tokens of a schema text with one token of look-ahead. Every failure names the expected token and the one
 * found.
 */
export interface TokenCursor {
  peek(): Token
  take(): Token
  /** Takes the punctuation or keyword if it comes next. */
  tryTake(text: string): Token | undefined
  /** @throws SchemaError unless the text comes next. */
  expect(text: string): Token
  /** Takes an identifier. `what` names it in the error. */
  expectName(what: string): Token
  /** Takes the end of a statement: a line break or `;`. */
  expectTerminator(what: string): void
  /** Takes the end of a statement if it comes next. */
  tryTakeTerminator(): void
  /** The text between two offsets. */
  slice(from: number, to: number): string
  /** @throws SchemaError always, at the position of the next token. */
  fail(expected: string): never
}

export function createTokenCursor(text: string): TokenCursor {
  const lexer = createLexer(text)
  let ahead: Token | undefined

  const peek = (): Token => (ahead ??= lexer.next())

  function take(): Token {
    const token = peek()
    ahead = undefined
    return token
  }

  function fail(expected: string): never {
    const token = peek()
    throw new SchemaError(token.at, `expected ${expected}, found ${describe(token)}`)
  }

  const isNext = (word: string): boolean =>
    peek().text === word && (peek().kind === 'punctuation' || peek().kind === 'keyword')

  const expectKind = (kind: TokenKind, expected: string): Token => (peek().kind === kind ? take() : fail(expected))

  return {
    peek,
    take,
    fail,
    tryTake: (word) => (isNext(word) ? take() : undefined),
    expect: (word) => (isNext(word) ? take() : fail(JSON.stringify(word))),
    expectName: (what) => expectKind('identifier', what),
    expectTerminator(what) {
      expectKind('terminator', `the end of the line after ${what}`)
    },
    tryTakeTerminator() {
      if (peek().kind === 'terminator') take()
    },
    slice: (from, to) => text.slice(from, to),
  }
}

function describe(token: Token): string {
  if (token.kind === 'end') return 'the end of the schema'
  if (token.kind === 'terminator') return token.text === ';' ? '";"' : 'the end of the line'
  return JSON.stringify(token.text)
}
