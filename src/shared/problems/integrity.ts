import { invalid, row } from './row.ts'

/** Problems of the triage of integrity violations (S1 Errors, Integrity). */
export const INTEGRITY_PROBLEMS = {
  invalid_integrity_violation_id: invalid('Invalid violation id', 'The violation id must be a UUID other than zero.'),
  invalid_artifact_id: invalid('Invalid artifact id', 'The artifact id must be a UUID other than zero.'),
  invalid_acknowledge_reason: invalid(
    'Invalid reason',
    'The reason of an acknowledgement must be 1 to 1,024 characters and not blank.',
  ),
  invalid_status: invalid('Invalid status', 'The filter names no status of the listed objects.'),
  integrity_violation_not_found: row(404, 'Violation not found', 'No such integrity violation exists.'),
} as const
