import { SelectorFault, quoted, unexpected } from './fault.ts'
import { LOCAL_KEY_CHARACTERS_MAX, parseScope, type Key, type Scope } from './syntax.ts'
import type { Token } from './tokens.ts'

const LOCAL_KEY = /^[a-z0-9](?:[a-z0-9._/-]{0,126}[a-z0-9])?$/
const CHARACTERS = /^[a-z0-9._/-]+$/

/** Whether a text is a key without its scope: the grammar of label keys on join tokens. */
export function isLocalKey(text: string): boolean {
  return LOCAL_KEY.test(text)
}

/**
 * The key that a token is.
 * @throws SelectorFault for any other token, for a word that is not a key and for a local key over 128 characters.
 */
export function readKey(token: Token, expected: readonly string[]): Key {
  if (token.kind !== 'word') throw unexpected(token, expected)
  const { offset, length } = token
  const parts = partsOf(token.text)
  if (parts !== undefined && isLocalKey(parts.localKey)) return { ...parts, offset, length }
  throw new SelectorFault({ offset, length, expected: ['key'], ...complaint(token.text, parts?.localKey) })
}

/**
 * The key that a text is, without white space around it, such as a `qualified_key` of a request; undefined where it is none.
 * The id of its scope is in lower case. A qualified key has a scope.
 */
export function parseKey(text: string): Pick<Key, 'scope' | 'localKey'> | undefined {
  const parts = partsOf(text)
  return parts !== undefined && isLocalKey(parts.localKey) ? parts : undefined
}

interface Parts {
  readonly scope: Scope | undefined
  readonly localKey: string
}

/** Splits a key at the end of its scope; undefined where a scope is malformed. Only a scope has a colon. */
function partsOf(text: string): Parts | undefined {
  const slash = text.indexOf('/')
  const head = slash === -1 ? text : text.slice(0, slash)
  if (head !== 'platform' && !head.includes(':')) return { scope: undefined, localKey: text }
  if (slash === -1) return head === 'platform' ? { scope: undefined, localKey: text } : undefined
  const scope = parseScope(head)
  return scope && { scope, localKey: text.slice(slash + 1) }
}

function complaint(text: string, localKey: string | undefined): Pick<SelectorFault['error'], 'code' | 'message'> {
  if (localKey === undefined) {
    const message = `${quoted(text)} is not a key: a scope is platform, domain:<uuid> or project:<uuid>, and a "/" ends it.`
    return { code: 'unexpected_token', message }
  }
  if (localKey.length > LOCAL_KEY_CHARACTERS_MAX && CHARACTERS.test(localKey)) {
    return { code: 'too_long', message: `A key has at most ${LOCAL_KEY_CHARACTERS_MAX} characters after its scope.` }
  }
  const rule = 'a-z, 0-9, ".", "_", "/" and "-", beginning and ending with a letter or digit'
  return { code: 'unexpected_token', message: `${quoted(text)} is not a key: a key has ${rule}.` }
}
