import type { Position } from '../language/schema-error.ts'
import type { SourceText } from './source-map.ts'

export const ASSERTION_KINDS = ['assertTrue', 'assertCaveated', 'assertFalse'] as const
export type AssertionKind = (typeof ASSERTION_KINDS)[number]

/** The texts of a validation file with their positions, before they are parsed. */
export interface ValidationFile {
  /** The schema itself; absent if the file names a schema file. */
  readonly schema: SourceText | undefined
  /** Path of the schema file, relative to this file. */
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

/** The expected subjects of a relation or permission of an object. */
export interface WrittenExpectation {
  readonly relation: SourceText
  readonly subjects: readonly SourceText[]
}

export interface FileFault extends Position {
  readonly kind: 'yaml'
  readonly message: string
}
