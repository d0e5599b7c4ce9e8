import { invalid } from './row.ts'

/** Problems of the audit trail. */
export const AUDIT_PROBLEMS = {
  invalid_audit_filter: invalid(
    'Invalid audit filter',
    'A filter of the audit query is missing, malformed or contradictory.',
  ),
} as const
