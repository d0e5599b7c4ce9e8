import type { PolicyDocument } from '../../../shared/policies/policy-document.ts'
import type { Json } from './json.ts'

/** Tables of policies (decisions: Policies). */
export interface PoliciesTables {
  policies: PolicyRow
  policy_revisions: PolicyRevisionRow
  policy_matches: PolicyMatchRow
}

/** A policy with its revision in force. */
export interface PolicyRow {
  id: string
  domain_id: string
  slug: string
  revision_id: string
  /** The newest revision with the same selector and compiled rules: the one that nodes know. */
  applied_revision_id: string
  created_at: Date
  updated_at: Date
}

export interface PolicyRevisionRow {
  id: string
  policy_id: string
  domain_id: string
  /** 1, 2, 3 … within the policy. */
  number: number
  display_name: string
  /** Canonical text of the selector of nodes. */
  selector: string
  /** As its author wrote it, with canonical selectors. */
  document: Json<PolicyDocument>
  /** Compiled rules in canonical order: the canonical JSON of an array, stored once and sent as it is. */
  rules: string
  /** SHA-256 of `rules` in padded base64. */
  fingerprint: string
  created_by: string
  created_at: Date
}

/** A node that the revision in force matches. */
interface PolicyMatchRow {
  policy_id: string
  node_id: string
}
