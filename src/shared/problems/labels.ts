import { invalid, row, type MemberError } from './row.ts'

/** A place in a selector where it is wrong, in bytes of UTF-8. */
interface SelectorFault {
  readonly offset: number
  readonly length: number
  readonly code: string
  readonly message: string
  readonly expected: readonly string[]
  /** RFC 6901: the member of the body, where it has several selectors. */
  readonly pointer?: string
}

/** Problems of label Definitions, labels of objects and selectors (S1 Errors). */
export const LABELS_PROBLEMS = {
  invalid_object_id: invalid('Invalid object id', 'The id of the object must be a UUID other than zero.'),
  object_not_found: row(404, 'Object not found', 'No such object exists.'),
  invalid_definition_id: invalid('Invalid Definition id', 'The Definition id must be a UUID other than zero.'),
  definition_not_found: row(404, 'Definition not found', 'No such label Definition exists.'),
  definition_conflict: row(409, 'Key taken', 'The scope already has a label Definition with this local key.'),
  definition_in_use: row<{ readonly holders: readonly string[] }>(
    409,
    'Definition in use',
    'A stored selector names the label; the holders say which. Change the selector first.',
  ),
  immutable_violation: row(
    409,
    'Cannot be changed',
    'The scope and key of a Definition never change, an immutable Definition stays immutable, and its labels are neither changed nor removed.',
  ),
  assignments_exist: row<{ readonly assignments: number }>(
    409,
    'Label in use',
    'Objects have the label, or have values that the new schema refuses; the problem says how many.',
  ),
  cardinality_exceeded: row(409, 'Too many labels', 'The object already has 64 labels.'),
  aggregate_invariant: row<{ readonly reason: string }>(
    422,
    'Label refused',
    'The label breaks a rule of labels; the reason says which.',
  ),
  invalid_selector: row<{ readonly errors: readonly SelectorFault[] }>(
    400,
    'Invalid selector',
    'The selector is malformed; each error has its place in bytes.',
  ),
  invalid_label_filter: row<{ readonly errors?: readonly (SelectorFault | MemberError)[] }>(
    400,
    'Invalid label filter',
    'The label filter must be key=value, or several with commas.',
  ),
  labels_not_provisioned: row(501, 'Not provisioned', 'Labels are not configured on this server.'),
} as const
