import { isRow, type Row } from '../../output/members.ts'
import type { Fault, TupleRequest, TupleRow } from './tuple-request.ts'
import { faultOf, shorthand } from './tuple-rules.ts'

/** A row of a file, or what is wrong with it. */
export type FileRow = TupleRow | Fault

const TEXTS = ['subject', 'relation', 'resource'] as const
/** Members of a listed tuple that the server sets itself. */
const OF_THE_SERVER: ReadonlySet<string> = new Set(['id', 'created_at'])
const KNOWN: ReadonlySet<string> = new Set([...TEXTS, 'caveat_context', ...OF_THE_SERVER])

/** Reads a tuple in the API's shape and holds it against the schema. */
export function rowOf(value: unknown, line: number): FileRow {
  const message = shapeFault(value)
  if (message !== undefined) return { line, message }
  // shapeFault has seen that the three are texts.
  const { subject, relation, resource, caveat_context } = value as Row & TupleRequest
  return checkedRow({ subject, relation, resource, ...(caveat_context !== undefined && { caveat_context }) }, line)
}

/** Holds a tuple against the schema. */
export function checkedRow(tuple: TupleRequest, line: number): FileRow {
  const whole = {
    ...tuple,
    subject: shorthand(tuple.subject, 'subject'),
    resource: shorthand(tuple.resource, 'resource'),
  }
  const message = faultOf(whole)
  return message === undefined ? { line, tuple: whole } : { line, message }
}

function shapeFault(value: unknown): string | undefined {
  if (!isRow(value)) return 'is no object with subject, relation and resource'
  const missing = TEXTS.filter((member) => typeof value[member] !== 'string' || value[member] === '')
  if (missing.length > 0) return `lacks ${missing.join(' and ')}`
  const unknown = Object.keys(value).filter((member) => !KNOWN.has(member))
  if (unknown.length > 0) return `has ${unknown.join(', ')}, which no tuple has`
  const context = value['caveat_context']
  if (context === undefined) return undefined
  if (!isRow(context)) return 'has a caveat_context that is no object'
  const name = context['caveat_name']
  return name === undefined || typeof name === 'string' ? undefined : 'has a caveat_name that is no text'
}
