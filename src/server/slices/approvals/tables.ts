import type { Generated } from 'kysely'
import type { ApprovalAction, QueuedAction } from '../../../shared/approval-actions.ts'
import type { ApprovalState } from '../../../shared/contract/approval-schemas.ts'
import type { Json } from '../../ports/tables/json.ts'

export interface ApprovalRow {
  id: string
  kind: string
  /** `<type>:<id>`. */
  object: string
  action: QueuedAction
  operation: string
  summary: string
  decide_relation: string
  /** `<type>:<id>`. */
  decide_object: string
  /** Null for the platform, and once the Domain is deleted. */
  domain_id: string | null
  project_id: string | null
  state: ApprovalState
  requested_by: string
  requested_at: Date
  expires_at: Date
  required_approvals: number
  reason: string | null
  /** Of a failed one: the code of the problem. */
  outcome: Generated<string | null>
  /** Null exactly while it is pending. */
  ended_at: Generated<Date | null>
}

export interface ApprovalDecisionRow {
  approval_id: string
  subject: string
  decision: 'approve' | 'reject'
  reason: string | null
  at: Date
}

/** The actions that a policy names, with the approvals that each needs. */
export type PolicyActions = { readonly [Action in ApprovalAction]?: { readonly required_approvals: number } }

export interface ApprovalPolicyRow {
  /** Null for the platform. */
  domain_id: string | null
  actions: Json<PolicyActions>
  /** Null: as the platform says, or the default. */
  ttl_seconds: number | null
  updated_by: string
  updated_at: Date
}

/** A call that waits for an approval. */
export interface HeldCallRow {
  approval_id: string
  operation: string
  /** Who makes the call once it is approved. */
  runs: 'server' | 'requester'
  /** SHA-256 of the call. */
  digest: Buffer
  /** The call itself; null once it was made, or has failed. */
  sealed: Buffer | null
  /** When it was made, or has failed for good. */
  made_at: Generated<Date | null>
}

declare module '../../ports/tables/tables.ts' {
  interface Tables {
    approvals: ApprovalRow
    approval_decisions: ApprovalDecisionRow
    approval_policies: ApprovalPolicyRow
    held_calls: HeldCallRow
  }
}
