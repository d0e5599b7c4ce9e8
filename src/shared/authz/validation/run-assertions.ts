import type { ConditionVerdict } from '../engine/question.ts'
import { UndecidableError } from '../engine/undecidable.ts'
import type { Outcome } from '../explanation.ts'
import type { Model } from '../model.ts'
import { ContextError } from './conditions.ts'
import type { Failure, Warning } from './failure.ts'
import { parseAssertion, type Assertion } from './parse-assertion.ts'
import type { Questions } from './questions.ts'
import { nameOf, type ObjectRelation, type SubjectReference } from './references.ts'
import type { SourceText } from './source-map.ts'
import { TextFault } from './text-fault.ts'
import type { AssertionKind, WrittenAssertion } from './validation-file.ts'

const EXPECTED: { readonly [kind in AssertionKind]: Outcome } = {
  assertTrue: 'granted',
  assertCaveated: 'conditional',
  assertFalse: 'denied',
}

export interface AssertionRun {
  readonly model: Model
  readonly questions: Questions
  /** Decides the conditions of tuples, with the values of the assertion. */
  readonly conditions: (context: Readonly<Record<string, unknown>>) => ConditionVerdict
  /** The reasons of the result, in lines; empty if there are none. */
  readonly explain: (assertion: Assertion, holds: ConditionVerdict, expected: Outcome) => readonly string[]
}

type Found = Omit<Failure, 'file'>
type Warned = Omit<Warning, 'file'>

/** Compares each assertion with the answer of the engine. */
export function runAssertions(
  run: AssertionRun,
  assertions: readonly WrittenAssertion[],
): { readonly failures: readonly Found[]; readonly warnings: readonly Warned[] } {
  const failures: Found[] = []
  const warnings: Warned[] = []
  for (const { kind, text } of assertions) {
    try {
      const assertion = parsed(text)
      const outcome = runOne(run, assertion, EXPECTED[kind])
      if (outcome !== undefined) failures.push({ ...text.at, kind: 'assertion', text: text.text.trim(), ...outcome })
      warnings.push(...oddities(run.model, assertion).map((message) => ({ ...text.at, message })))
    } catch (error) {
      if (!(error instanceof TextFault)) throw error
      const at = text.locate({ line: 1, column: error.offset + 1 })
      failures.push({ ...at, kind: 'assertion', text: text.text.trim(), message: error.message, because: [] })
    }
  }
  return { failures, warnings }
}

function parsed(text: SourceText): Assertion {
  const trimmed = text.text.trim()
  const assertion = parseAssertion(trimmed)
  const { caveat, subject, offsets } = assertion.relationship
  if (caveat !== '') {
    throw new TextFault(offsets.caveat, 'expected no caveat in an assertion: values for caveats follow after " with "')
  }
  if (subject.id === '*') throw new TextFault(offsets.subject, `expected one subject, found ${nameOf(subject)}`)
  return assertion
}

/** Undefined if the result is the expected one. */
function runOne(
  run: AssertionRun,
  assertion: Assertion,
  expected: Outcome,
): Pick<Found, 'message' | 'expected' | 'found' | 'because'> | undefined {
  const { resource, subject, offsets } = assertion.relationship
  requireNames(run.model, resource, offsets.relation)
  const holds = run.conditions(assertion.context)
  try {
    const outcome = run.questions.ask(resource, subject, holds)
    if (outcome === expected) return undefined
    const message = `expected ${expected}, found ${outcome}`
    return { message, expected, found: outcome, because: run.explain(assertion, holds, expected) }
  } catch (error) {
    if (error instanceof ContextError) throw new TextFault(assertion.contextOffset, error.message)
    if (!(error instanceof UndecidableError || error instanceof RangeError)) throw error
    return { message: `expected ${expected}, found no answer: ${error.message}`, because: [] }
  }
}

/** @throws TextFault unless the schema has the type and the relation or permission of the resource. */
export function requireNames(model: Model, { type, relation }: ObjectRelation, relationOffset: number): void {
  const found = model.type(type)
  if (found === undefined) throw new TextFault(0, `expected a type of the schema, found "${type}"`)
  if (found.askable.has(relation)) return
  throw new TextFault(relationOffset, `expected a relation or permission of "${type}", found "${relation}"`)
}

/** Warnings about assertions that SpiceDB's tools accept although they are probably mistakes. */
function oddities(model: Model, { relationship }: Assertion): string[] {
  const { subject, expiresAtMs } = relationship
  return [
    ...unknownSubject(model, subject),
    ...(expiresAtMs === undefined ? [] : ['the expiration in this assertion means nothing']),
  ]
}

function unknownSubject(model: Model, { type, relation }: SubjectReference): string[] {
  const found = model.type(type)
  if (found === undefined) return [`the schema has no type "${type}", so that this subject holds nothing`]
  if (relation === '' || found.askable.has(relation)) return []
  return [`"${type}" has no relation "${relation}", so that this subject holds nothing`]
}
