import { parseReference } from '../../../shared/ids.ts'
import { memberOf } from '../../output/members.ts'

/** Digits of an id in a table, as in its other cells. */
const ID_DIGITS = 8

/** Rows with the names that the server knows beside the ends of ids: a name can change or be given again, and a row is about the id. */
export function namedRows(rows: readonly unknown[]): readonly unknown[] {
  return rows.map((row) => ({
    ...(row as object),
    subject: beside(memberOf(row, 'subject'), memberOf(row, 'subject_name')),
    object: beside(memberOf(row, 'object'), memberOf(row, 'object_name')),
  }))
}

/** `user:Alice (3d2e4b11)`; the reference as it is without a name. */
export function beside(reference: unknown, name: unknown): unknown {
  if (typeof reference !== 'string' || typeof name !== 'string') return reference
  const parsed = parseReference(reference)
  if (parsed === undefined) return reference
  const type = parsed.type === 'serviceaccount' ? 'service' : parsed.type
  return `${type}:${name} (${parsed.id.slice(-ID_DIGITS)})`
}
