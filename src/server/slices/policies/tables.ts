declare module '../../ports/tables/tables.ts' {
  interface Tables {
    policy_groups: PolicyGroupRow
    policy_group_uses: PolicyGroupUseRow
    policy_rematches: PolicyRematchRow
  }
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
