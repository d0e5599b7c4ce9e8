import type { PolicyDocument } from '../../../shared/policies/policy-document.ts'
import type { Json } from './json.ts'

/** Tables of policies (decisions: Policies). */
export interface PoliciesTables {
  policies: PolicyRow
  policy_revisions: PolicyRevisionRow
  policy_matches: PolicyMatchRow
  policy_groups: PolicyGroupRow
  policy_group_uses: PolicyGroupUseRow
  policy_rematches: PolicyRematchRow
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

/** A peer selector, as rules name it. */
interface PolicyGroupRow {
  domain_id: string
  number: number
  /** Canonical text. */
  selector: string
}

/** A group that the revision in force of a policy names. */
interface PolicyGroupUseRow {
  policy_id: string
  domain_id: string
  number: number
}

/** Nodes of a Domain that are to be matched again, since their labels changed. */
interface PolicyRematchRow {
  id: string
  domain_id: string
  /** Only the nodes of this Project; null: all. */
  project_id: string | null
  /** The Definition whose labels changed; null where it may be any. */
  definition_id: string | null
  /** The last node that was matched; null before the first. */
  after_node_id: string | null
}
