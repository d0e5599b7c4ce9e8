import { SelectorFault, quoted, unexpected } from './fault.ts'
import { VALUE_CHARACTERS_MAX, type Span, type Value } from './syntax.ts'
import { utf8Length, type Token } from './tokens.ts'

/** As much of a quoted text as JSON accepts, without the mark at its end. */
const WELL_FORMED = /"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/uy
/** One wrong escape, or one character that JSON does not take as it is. */
const WRONG = /\\?[^]/uy

/**
 * The value that a token is.
 * @throws SelectorFault for any other token, for a wrong escape, and for a value that no label can have.
 */
export function readValue(token: Token): Value {
  if (token.kind !== 'word' && token.kind !== 'string') throw unexpected(token, ['value'])
  const { offset, length } = token
  const text = token.kind === 'string' ? unquoted(token) : token.text
  if (!isStorable(text)) {
    throw refused(token, 'A value has no character U+0000 and no half of a surrogate pair.')
  }
  if (Array.from(text).length > VALUE_CHARACTERS_MAX) {
    const message = `A value has at most ${VALUE_CHARACTERS_MAX} characters.`
    throw new SelectorFault({ offset, length, code: 'too_long', message, expected: [] })
  }
  return { text, offset, length }
}

/** Whether both datastores can hold a text, and UTF-8 can express it. */
export function isStorable(text: string): boolean {
  return !/\0|\p{Surrogate}/u.test(text)
}

function unquoted(token: Token): string {
  const { text, offset } = token
  const good = match(WELL_FORMED, text, 0)
  if (good.length < text.length - 1) {
    const wrong = match(WRONG, text, good.length)
    const span = { offset: offset + utf8Length(good), length: utf8Length(wrong) }
    throw refused(span, `${quoted(wrong)} must be written as JSON writes it in a quoted text.`)
  }
  return String(JSON.parse(text))
}

function refused({ offset, length }: Span, message: string): SelectorFault {
  return new SelectorFault({ offset, length, code: 'unexpected_token', message, expected: ['value'] })
}

function match(form: RegExp, text: string, index: number): string {
  form.lastIndex = index
  return form.exec(text)?.[0] ?? ''
}
