import { compileSchema } from '../language/compile.ts'
import { parseSchema } from '../language/parser.ts'
import { SchemaError, type Position } from '../language/schema-error.ts'
import type { Model } from '../model.ts'
import { conditionsUnder } from './conditions.ts'
import { createExplainer } from './explain-assertion.ts'
import type { Failure, Warning } from './failure.ts'
import { loadRelationships } from './load-relationships.ts'
import { createQuestions } from './questions.ts'
import { runAssertions } from './run-assertions.ts'
import { runExpectations } from './run-expectations.ts'
import type { ValidationFile } from './validation-file.ts'

/** The result of one validation or schema file. */
export interface FileReport {
  /** The name that the caller gave. */
  readonly file: string
  readonly isPassed: boolean
  readonly relationships: number
  readonly assertions: number
  /** Number of relations and permissions whose subjects were compared. */
  readonly validations: number
  readonly failures: readonly Failure[]
  readonly warnings: readonly Warning[]
}

/** A schema with its position. */
export interface SchemaText {
  /** The file that holds it. */
  readonly file: string
  readonly text: string
  readonly locate: (position: Position) => Position
}

export interface Validation {
  /** The name of the file in failures. */
  readonly file: string
  readonly written: ValidationFile
  readonly schema: SchemaText
  /** The instant that decides which relationships have expired. */
  readonly nowMs: number
}

/**
 * Runs a validation file: schema, relationships, assertions and expected subjects. Each part runs only if the parts
 * before it are valid.
 */
export function validateFile({ file, written, schema, nowMs }: Validation): FileReport {
  const warnings = written.warnings.map((each) => ({ ...each, file }))
  const failed = (failures: readonly Failure[]): FileReport => reportOf(file, { failures, warnings })
  const compiled = compile(schema)
  if ('message' in compiled) return failed([compiled])
  const { relationships, faults } = loadRelationships(compiled, written.relationships)
  if (faults.length > 0) return failed(faults.map((fault) => ({ ...fault, file })))
  const live = relationships.filter(({ expiresAtMs }) => expiresAtMs === undefined || expiresAtMs > nowMs)
  const questions = createQuestions(compiled, relationships)
  const run = {
    model: compiled,
    questions,
    conditions: (context: Readonly<Record<string, unknown>>) => conditionsUnder(nowMs, context),
    explain: createExplainer(questions),
  }
  const asserted = runAssertions(run, written.assertions)
  const compared = runExpectations(compiled, live, written.expectations)
  return reportOf(file, {
    relationships: relationships.length,
    assertions: written.assertions.length,
    validations: written.expectations.length,
    failures: inOrder([...asserted.failures, ...compared]).map((failure) => ({ ...failure, file })),
    warnings: inOrder([...warnings, ...asserted.warnings.map((warning) => ({ ...warning, file }))]),
  })
}

const inOrder = <T extends Position>(failures: readonly T[]): T[] =>
  failures.toSorted((a, b) => a.line - b.line || a.column - b.column)

/** The report of a file with invalid YAML. */
export function reportFaults(file: string, { faults, warnings }: ValidationFile): FileReport {
  const failures = faults.map((fault) => ({ ...fault, file, text: '', because: [] }))
  return reportOf(file, { failures, warnings: warnings.map((warning) => ({ ...warning, file })) })
}

/** Compiles a schema file without a validation file. */
export function validateSchema(schema: SchemaText): FileReport {
  const compiled = compile(schema)
  return reportOf(schema.file, { failures: 'message' in compiled ? [compiled] : [] })
}

export function reportOf(file: string, found: Partial<FileReport>): FileReport {
  const failures = (found.failures ?? []).map(readable)
  const counts = { relationships: 0, assertions: 0, validations: 0, warnings: [] }
  return { file, isPassed: failures.length === 0, ...counts, ...found, failures }
}

/** Maximum length of the texts of a failure: a line of megabytes also gets a short message. */
const TEXT_MAX = 240
const MESSAGE_MAX = 1000

const cut = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max)}…` : text)

function readable<T extends Failure>(failure: T): T {
  return {
    ...failure,
    text: cut(failure.text, TEXT_MAX),
    message: cut(failure.message, MESSAGE_MAX),
    because: failure.because.map((line) => cut(line, MESSAGE_MAX)),
  }
}

function compile({ file, text, locate }: SchemaText): Model | Failure {
  try {
    return compileSchema(parseSchema(text))
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    const message = error.message.replace(/^\d+:\d+: /, '')
    const line = text.split('\n')[error.position.line - 1]?.trim() ?? ''
    return { ...locate(error.position), file, kind: 'schema', text: line, message, because: [] }
  }
}
