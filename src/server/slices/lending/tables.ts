import type { Generated } from 'kysely'

/** What a request to lend is: it waits, it is live, or it has ended. */
export type AssignmentState = 'requested' | 'approved' | 'rejected' | 'revoked'

interface AssignmentRow {
  id: string
  project_id: string
  state: AssignmentState
  approval_id: string
  /** The subject that revoked it; null unless it is revoked. */
  revoked_by: Generated<string | null>
  revoked_reason: Generated<string | null>
  created_at: Date
  updated_at: Date
}

export interface CloudAssignmentRow extends AssignmentRow {
  cloud_id: string
}

export interface CredentialAssignmentRow extends AssignmentRow {
  cloud_credential_id: string
}

declare module '../../ports/tables/tables.ts' {
  interface Tables {
    cloud_assignments: CloudAssignmentRow
    credential_assignments: CredentialAssignmentRow
  }
}
