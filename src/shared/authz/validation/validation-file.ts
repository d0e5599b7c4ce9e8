import type { Position } from '../language/schema-error.ts'
import type { SourceText } from './source-map.ts'

export const ASSERTION_KINDS = ['assertTrue', 'assertCaveated', 'assertFalse'] as const
export type AssertionKind = (typeof ASSERTION_KINDS)[number]

/** What a validation file says, not yet understood: texts with their places. */
export interface ValidationFile {
  /** The schema itself; absent where the file names another for it. */
  readonly schema: SourceText | undefined
  /** Where the schema is, relative to this file. */
  readonly schemaFile: SourceText | undefined
  readonly relationships: SourceText | undefined
  readonly assertions: readonly WrittenAssertion[]
  readonly expectations: readonly WrittenExpectation[]
  readonly faults: readonly FileFault[]
  readonly warnings: readonly FileFault[]
}

export interface WrittenAssertion {
  readonly kind: AssertionKind
  readonly text: SourceText
}

/** The subjects that a relation or permission of an object should have. */
export interface WrittenExpectation {
  readonly relation: SourceText
  readonly subjects: readonly SourceText[]
}

export interface FileFault extends Position {
  readonly kind: 'yaml'
  readonly message: string
}
