import type { Scope } from './scope.ts'

export { parseScope, scopeText, type Scope } from './scope.ts'

/** Longest selector that a caller may send, in UTF-8 bytes (decisions: Labels). */
export const SELECTOR_BYTES_MAX = 4_096
/**
 * Longest canonical form of such a selector, in UTF-8 bytes: each requirement may gain the scope of its key
 * (`project:`, a UUID and `/`) and two spaces.
 */
export const CANONICAL_BYTES_MAX = 5_632
/** Most requirements in one selector. */
export const REQUIREMENTS_MAX = 32
/** Most values in the list of one requirement. */
export const VALUES_MAX = 64
/** Longest text value, in characters (code points). */
export const VALUE_CHARACTERS_MAX = 256
/** Longest local key, in characters. */
export const LOCAL_KEY_CHARACTERS_MAX = 128
/** Most errors that one text is answered with: a short text must not cause a long answer. */
export const ERRORS_MAX = 64

/** A part of the text, in UTF-8 bytes. The end of the text has its byte length as offset and length 0. */
export interface Span {
  readonly offset: number
  readonly length: number
}

export type SelectorErrorCode =
  | 'unexpected_token'
  | 'unterminated_string'
  | 'unknown_key'
  | 'wrong_type'
  | 'too_long'
  | 'empty'

/** One fault of a selector, and where it is. */
export interface SelectorError extends Span {
  readonly code: SelectorErrorCode
  /** A sentence for people. */
  readonly message: string
  /**
   * What would be accepted there: a token as it is written, or `key`, `value`, `integer`, `end` for the end of the text. For an
   * unknown key the most similar defined key, if one is similar.
   */
  readonly expected: readonly string[]
}

/** A key as it was written. Without a scope it means the nearest Definition seen from where the selector is used. */
export interface Key extends Span {
  readonly scope: Scope | undefined
  readonly localKey: string
}

/** A value as text, without the quotation marks and escapes of its source; the span includes them. */
export interface Value extends Span {
  readonly text: string
}

/** One condition. `=` and `==` are `in` with one value, `!=` is `notin` with one. */
export type Requirement =
  | { readonly op: 'exists' | 'absent'; readonly key: Key }
  | { readonly op: 'in' | 'notin'; readonly key: Key; readonly values: readonly Value[] }
  | { readonly op: 'lt' | 'gt'; readonly key: Key; readonly value: Value; readonly operator: Span }

/** All requirements must hold. None at all is `*`, which selects everything. */
export interface Selector {
  readonly requirements: readonly Requirement[]
}
