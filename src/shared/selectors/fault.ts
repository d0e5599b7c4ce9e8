import type { Token } from './tokens.ts'
import type { SelectorError } from './syntax.ts'

/** Ends the reading of one requirement; the parser collects it and goes on with the next one. */
export class SelectorFault extends Error {
  override readonly name = 'SelectorFault'
  readonly error: SelectorError

  constructor(error: SelectorError) {
    super(error.message)
    this.error = error
  }
}

/** Longest part of the source that a message quotes, in characters. */
const QUOTED_CHARACTERS_MAX = 40

/** The fault of a token that does not belong where it is. */
export function unexpected(token: Token, expected: readonly string[]): SelectorFault {
  const { offset, length } = token
  if (token.kind === 'unclosed') {
    const message = 'This text begins with a quotation mark and has none at its end.'
    return new SelectorFault({ offset, length, code: 'unterminated_string', message, expected: ['"'] })
  }
  const message = `Expected ${oneOf(expected.map(named))}, found ${token.kind === 'end' ? named('end') : quoted(token.text)}.`
  return new SelectorFault({ offset, length, code: 'unexpected_token', message, expected })
}

const NAMES: Readonly<Record<string, string>> = { key: 'a key', value: 'a value', end: 'the end of the text' }

function named(expected: string): string {
  return NAMES[expected] ?? quoted(expected)
}

function oneOf(names: readonly string[]): string {
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} or ${last}`
}

/** A part of the source for a message: in quotation marks, escaped, and cut where it is long. */
export function quoted(text: string): string {
  const characters = Array.from(text)
  if (characters.length <= QUOTED_CHARACTERS_MAX) return JSON.stringify(text)
  return JSON.stringify(`${characters.slice(0, QUOTED_CHARACTERS_MAX).join('')}…`)
}
