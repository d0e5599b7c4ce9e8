import type { Outcome } from '../explanation.ts'
import type { Position } from '../language/schema-error.ts'

/** The kind of expectation or text that a failure concerns. */
export type FailureKind = 'file' | 'yaml' | 'schema' | 'relationship' | 'assertion' | 'validation'

/** A part of a validation file that does not hold or cannot be read. */
export interface Failure extends Position {
  readonly kind: FailureKind
  /** The file that the position is in: the validation file, or the schema file that it names. */
  readonly file: string
  /** The assertion, expectation or relationship as written; empty if the position is enough. */
  readonly text: string
  /** The expected and the actual result, in one sentence without a full stop. */
  readonly message: string
  /** Present for assertions that were answered. */
  readonly expected?: Outcome
  readonly found?: Outcome
  /** The reasons of the result, one in a line; only for assertions. */
  readonly because: readonly string[]
}

/** A probable mistake that is not a failure. */
export interface Warning extends Position {
  readonly file: string
  readonly message: string
}
