export interface InvitationRow {
  id: string
  domain_id: string
  /** Lower case. */
  email: string
  created_by: string
  created_at: Date
  expires_at: Date
  accepted_at: Date | null
  accepted_by: string | null
}

declare module '../../ports/tables/tables.ts' {
  interface Tables {
    invitations: InvitationRow
  }
}
