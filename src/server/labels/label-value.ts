import type { LabelValue, ValueSchema } from '../../shared/labels/schema-types.ts'
import { assertValueSchema, valueFits } from '../../shared/labels/value-schema.ts'
import { problem, type Problem } from '../../shared/problems.ts'
import type { LabelAssignmentRow } from '../ports/tables/labels.ts'

/** How a value is stored. */
export type StoredValue = Pick<LabelAssignmentRow, 'value' | 'value_type' | 'number'>

/** The refusal of what breaks a rule of labels. */
export function refusedLabel(reason: string): Problem {
  return problem('aggregate_invariant', { reason })
}

/** The value schema of a body. @throws Problem `aggregate_invariant` where its members contradict each other. */
export function requireValueSchema(value: unknown): ValueSchema {
  const schema = assertValueSchema(value)
  if ('error' in schema) throw refusedLabel(schema.error)
  return schema
}

/** Why the value does not fit the schema, as a sentence; undefined where it does. */
export function misfitOf(schema: ValueSchema, value: LabelValue): string | undefined {
  return valueFits(schema, value)
}

/** The columns of a value. */
export function storedValue(value: LabelValue): StoredValue {
  if (typeof value === 'string') return { value, value_type: 'string', number: null }
  if (typeof value === 'boolean') return { value: String(value), value_type: 'boolean', number: null }
  return { value: String(value), value_type: 'integer', number: String(value) }
}

/** The value of its columns. */
export function labelValue({ value, value_type: type }: Pick<StoredValue, 'value' | 'value_type'>): LabelValue {
  if (type === 'integer') return Number(value)
  return type === 'boolean' ? value === 'true' : value
}

const INTEGER = /^-?(0|[1-9]\d{0,15})$/

/**
 * The value that a text stands for where values are written as text: an integer or a boolean where the schema asks for one.
 * A text that is none stays a text, which the schema refuses.
 */
export function valueOfText({ type }: ValueSchema, text: string): LabelValue {
  if (type === 'integer' && INTEGER.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}
