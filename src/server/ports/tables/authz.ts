import type { Generated } from 'kysely'
import type { Json } from './json.ts'

/** Tables of relation tuples and of the change feed that indexes follow. */
export interface AuthzTables {
  relation_tuples: RelationTupleRow
  authz_head: AuthzHeadRow
  authz_changes: AuthzChangeRow
  authz_index_marks: AuthzIndexMarkRow
}

export interface RelationTupleRow {
  id: string
  subject_type: string
  subject_id: string
  /** Empty for a direct subject; `member` in `group:x#member`. */
  subject_relation: string
  relation: string
  resource_type: string
  resource_id: string
  /** Empty when the tuple has no caveat. */
  caveat_name: string
  caveat_fields: Json<string[]>
  domain_id: string | null
  project_id: string | null
  structural: boolean
  revision: string
  created_at: Date
  /** `pending`: SpiceDB may not have it yet. `revoking`: SpiceDB may still have it. Always `live` where there is no SpiceDB. */
  state: Generated<'pending' | 'live' | 'revoking'>
}

interface AuthzHeadRow {
  id: number
  revision: string
  /** SpiceDB's token of the last write; null before the first. */
  zed_token: string | null
  /** The last revision whose tuples SpiceDB may not have; null when it has all. */
  unmirrored_revision: string | null
  /** SHA-256 in hex of the authorization schema that every tuple was last validated with. */
  schema_digest: string | null
}

export interface AuthzChangeRow {
  revision: string
  ordinal: number
  /**
   * `tuple_touched`, `tuple_deleted` carry the tuple; `credential_changed` its `{kind, id}`; `domain_changed` the Domain's
   * id; `tuples_settled` the token of SpiceDB's last write.
   */
  kind: string
  payload: Json<unknown>
}

/** A file that keeps an authorization index as it was at the revision. */
interface AuthzIndexMarkRow {
  mark: string
  revision: string
  made_at: Date
}
