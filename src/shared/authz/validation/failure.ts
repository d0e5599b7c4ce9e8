import type { Outcome } from '../explanation.ts'
import type { Position } from '../language/schema-error.ts'

/** What kind of expectation or text a failure is about. */
export type FailureKind = 'file' | 'yaml' | 'schema' | 'relationship' | 'assertion' | 'validation'

/** One thing in a validation file that does not hold, or that cannot be read. */
export interface Failure extends Position {
  readonly kind: FailureKind
  /** The file that the position is in: the validation file, or the schema file that it names. */
  readonly file: string
  /** The assertion, expectation or relationship as written; empty where the place says enough. */
  readonly text: string
  /** What was expected and what came out, in one sentence without its end. */
  readonly message: string
  /** Of assertions that were answered. */
  readonly expected?: Outcome
  readonly found?: Outcome
  /** Why it came out so, a line each; only of assertions. */
  readonly because: readonly string[]
}

/** Something that is probably not meant, but no failure. */
export interface Warning extends Position {
  readonly file: string
  readonly message: string
}
