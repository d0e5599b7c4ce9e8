import type { Token } from './tokens.ts'

/** Reads tokens one after another and counts the parentheses that are open. */
export interface TokenCursor {
  /** The next token, which stays the next one. At the end of the text it is the end. */
  peek(): Token
  take(): Token
  /** Whether the next token is this punctuation; takes it if so. */
  takes(mark: string): boolean
  /** Passes over everything up to the next comma outside of parentheses, and that comma; false where there is none. */
  skipComma(): boolean
}

/** A cursor before the first of the tokens; the last one is the end. */
export function createTokenCursor(tokens: readonly Token[], end: Token): TokenCursor {
  const state = { next: 0, depth: 0 }

  const peek = (): Token => tokens[state.next] ?? end

  function take(): Token {
    const token = peek()
    if (isMark(token, '(')) state.depth += 1
    if (isMark(token, ')')) state.depth = Math.max(0, state.depth - 1)
    if (token.kind !== 'end') state.next += 1
    return token
  }

  function skipComma(): boolean {
    for (;;) {
      const isOutside = state.depth === 0
      const token = take()
      if (token.kind === 'end') return false
      if (isOutside && isMark(token, ',')) return true
    }
  }

  function takes(mark: string): boolean {
    if (!isMark(peek(), mark)) return false
    take()
    return true
  }

  return { peek, take, takes, skipComma }
}

/** Whether a token is this punctuation. */
export function isMark(token: Token, mark: string): boolean {
  return token.kind === 'mark' && token.text === mark
}
