import { SelectorFault, unexpected } from './fault.ts'
import { readRequirement, REQUIREMENT_START } from './read-requirement.ts'
import { REQUIREMENTS_MAX, SELECTOR_BYTES_MAX, type Requirement, type Selector, type SelectorError } from './syntax.ts'
import { createTokenCursor, type TokenCursor } from './token-cursor.ts'
import { tokensOf, utf8Length, type Token } from './tokens.ts'

/** What a text says as a selector. */
export interface ParsedSelector {
  /** Undefined where there is any error: part of a selector is never evaluated. */
  readonly selector: Selector | undefined
  /** The requirements without an error, so that their keys can be looked up in the same pass (`bindSelector`). */
  readonly requirements: readonly Requirement[]
  /** By offset. At most one for each requirement, and one more where there are too many. */
  readonly errors: readonly SelectorError[]
}

/**
 * Parses a selector. After an error it goes on behind the next comma outside of parentheses. Takes time linear in the
 * text; a text over `bytesMax` UTF-8 bytes is refused unread. Stored canonical forms are read with `CANONICAL_BYTES_MAX`.
 */
export function parseSelector(text: string, bytesMax = SELECTOR_BYTES_MAX): ParsedSelector {
  const bytes = utf8Length(text)
  if (bytes > bytesMax) return failed(tooManyBytes(text, { bytes, bytesMax }))
  const tokens = tokensOf(text)
  const end: Token = { kind: 'end', text: '', offset: bytes, length: 0 }
  if (tokens.length === 1) return failed(emptyAt(end))
  return parseList(createTokenCursor(tokens, end), end)
}

function parseList(cursor: TokenCursor, end: Token): ParsedSelector {
  const requirements: Requirement[] = []
  const errors: SelectorError[] = []
  let read = 0
  do {
    if (read === REQUIREMENTS_MAX && cursor.peek().kind !== 'end') {
      errors.push(tooManyRequirements(cursor.peek(), end))
      break
    }
    const part = readPart(cursor, read)
    if (part instanceof SelectorFault) errors.push(part.error)
    else requirements.push(...part)
    read += 1
  } while (cursor.skipComma())
  return { selector: errors.length === 0 ? { requirements } : undefined, requirements, errors }
}

/** One requirement up to its comma or the end of the text; none for `*`, which must be the whole text. */
function readPart(cursor: TokenCursor, read: number): readonly Requirement[] | SelectorFault {
  try {
    const isAll = read === 0 && cursor.takes('*')
    const part = isAll ? [] : [readRequirement(cursor, read === 0 ? ['*', ...REQUIREMENT_START] : REQUIREMENT_START)]
    const isOver = cursor.peek().kind === 'end' || (!isAll && isComma(cursor.peek()))
    if (!isOver) throw unexpected(cursor.peek(), isAll ? ['end'] : followers(part))
    return part
  } catch (error) {
    if (error instanceof SelectorFault) return error
    throw error
  }
}

function isComma(token: Token): boolean {
  return token.kind === 'mark' && token.text === ','
}

const OPERATORS: readonly string[] = ['=', '==', '!=', '<', '>', 'in', 'notin']

/** What may follow a requirement. A key alone may go on with an operator. */
function followers([requirement]: readonly Requirement[]): readonly string[] {
  return requirement?.op === 'exists' ? [...OPERATORS, ',', 'end'] : [',', 'end']
}

function failed(error: SelectorError): ParsedSelector {
  return { selector: undefined, requirements: [], errors: [error] }
}

function emptyAt({ offset, length }: Token): SelectorError {
  const message = 'A selector is not empty: write * to select everything.'
  return { offset, length, code: 'empty', message, expected: ['*', ...REQUIREMENT_START] }
}

function tooManyRequirements({ offset }: Token, end: Token): SelectorError {
  const message = `A selector has at most ${REQUIREMENTS_MAX} requirements.`
  return { offset, length: end.offset - offset, code: 'too_long', message, expected: ['end'] }
}

/** The error begins with the first character that does not fit. */
function tooManyBytes(text: string, { bytes, bytesMax }: { bytes: number; bytesMax: number }): SelectorError {
  let offset = 0
  for (const character of text) {
    const next = offset + utf8Length(character)
    if (next > bytesMax) break
    offset = next
  }
  const message = `A selector has at most ${bytesMax} bytes of UTF-8.`
  return { offset, length: bytes - offset, code: 'too_long', message, expected: ['end'] }
}
