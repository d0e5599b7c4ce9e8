import type { Generated } from 'kysely'
import type { Json } from './json.ts'

/** Tables of the audit trail and its chains. */
export interface AuditTables {
  audit: AuditRow
  audit_gaps: AuditGapRow
}

export interface AuditRow {
  id: string
  at: Date
  domain_id: string | null
  subject: string
  relation: string
  object: string
  outcome:
    | 'granted'
    | 'permission_denied'
    | 'invariant_violation'
    | 'identity_conflict'
    | 'not_found'
    | 'internal_error'
  reason: string
  correlation_id: string
  context: Json<Record<string, unknown>>
}

/** Rows of a chain that could not be written. */
interface AuditGapRow {
  id: Generated<string>
  domain_id: string | null
  row_count: number
}
