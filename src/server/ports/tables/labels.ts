import type { ValueSchema } from '../../../shared/labels/schema-types.ts'
import type { Generated } from 'kysely'
import type { Json } from './json.ts'

/** Tables of the label registry (S1 Label registry). */
export interface LabelsTables {
  label_definitions: LabelDefinitionRow
  label_objects: LabelObjectRow
  label_assignments: LabelAssignmentRow
  selector_definitions: SelectorDefinitionRow
}

/** A label that may be put on the objects of its scope. */
export interface LabelDefinitionRow {
  id: string
  scope_kind: 'platform' | 'domain' | 'project'
  /** The Domain of its scope, and for a Project the Domain of that Project; null for the platform. */
  domain_id: string | null
  project_id: string | null
  local_key: string
  /** `<scope>/<local_key>`, unique. */
  qualified_key: string
  description: string
  value_schema: Json<ValueSchema>
  /** What the deletion of the Definition does to its assignments. */
  on_delete: 'block' | 'cascade' | 'orphan'
  immutable: boolean
  /** Whether objects of a Project or Domain inherit its label. */
  inherit: boolean
  /** Kinds of objects that it may be put on; empty: all. */
  kinds: string[]
  system: boolean
  /** Whether its parent edge was written; a migration cannot write tuples. */
  granted: boolean
  /**
   * Made for a label that a node or join token was given, and not changed since: who may operate a node may put it on the
   * node without `assign`.
   */
  implicit: Generated<boolean>
  created_at: Date
  updated_at: Date
}

/**
 * An object that can have labels, with its place. Triggers keep the rows. Resources, networks and workloads are of kind
 * `resource` here, and `subkind` is the kind of the resource.
 */
export interface LabelObjectRow {
  kind: string
  id: string
  subkind: string | null
  /** Of a Domain itself, its own id. */
  domain_id: string | null
  /** Of a Project itself, its own id. */
  project_id: string | null
}

/** A label of an object. Its rows go with the object. */
export interface LabelAssignmentRow {
  kind: string
  object_id: string
  qualified_key: string
  /** Null once orphaned. */
  definition_id: string | null
  /** Canonical text of the value: `true`, `42`, or the string itself. */
  value: string
  value_type: 'string' | 'integer' | 'boolean'
  /** The value of an integer. */
  number: string | null
  assigned_by: string
  created_at: Date
  updated_at: Date
}

/** A Definition that a stored selector names. */
interface SelectorDefinitionRow {
  definition_id: string
  /** `<kind>:<id>` of what has the selector, such as `policy:<id>`. */
  holder: string
}
