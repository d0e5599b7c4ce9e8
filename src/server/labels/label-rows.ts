import { sql, type RawBuilder } from 'kysely'
import type { Definition, LabelValue } from '../../shared/selectors/definition.ts'
import { labelTest, textsOf } from './selector-sql.ts'

/** A statement of objects, as `kind` and `id`. */
export type ObjectRows = RawBuilder<{ readonly kind: string; readonly id: string }>

/** The requirements that few objects may meet, so that a statement can begin with those. */
export type DrivingRequirement =
  | ListRequirement
  | { readonly op: 'exists'; readonly definition: Definition }
  | { readonly op: 'lt' | 'gt'; readonly definition: Definition; readonly value: number }

/** The label has one of these values. */
export interface ListRequirement {
  readonly op: 'in'
  readonly definition: Definition
  readonly values: readonly LabelValue[]
}

/** Restricts the objects of a statement, as a condition over `kind`. */
export type KindCondition = RawBuilder<unknown>

/** At least the objects that meet a requirement; some may occur twice, and some not meet it after all. */
export function objectsOf(requirement: DrivingRequirement, isKind: KindCondition): ObjectRows {
  const { id, inherit } = requirement.definition
  const own = sql<never>`select label.kind, label.object_id as id from label_assignments as label
    where label.definition_id = ${id} and ${labelTest(requirement)}`
  const parts = inherit ? [own, objectsBelow(requirement, 'project'), objectsBelow(requirement, 'domain')] : [own]
  return sql<never>`select kind, id from (${sql.join(parts, sql` union all `)}) as part where ${isKind}`
}

function objectsBelow(requirement: DrivingRequirement, kind: 'project' | 'domain'): ObjectRows {
  return sql<never>`select object.kind, object.id from label_assignments as label
    join label_objects as object on object.${sql.ref(`${kind}_id`)} = label.object_id
    where label.definition_id = ${requirement.definition.id} and label.kind = ${sql.lit(kind)}
      and ${labelTest(requirement)}`
}

/** Projects and Domains that have the label that a requirement asks for. */
export interface LabelledPlaces {
  readonly projects: readonly string[]
  readonly domains: readonly string[]
}

/**
 * Exactly the objects that meet a requirement of the form `in`, each once, as parts that an index delivers by kind and id: one for each
 * value, and for an inherited label one for each Project and Domain that has it. Each part is sorted by itself, so that the planner merges
 * them instead of having several processes gather all of them.
 */
export function sortedObjectsOf(
  { definition, values }: ListRequirement,
  isKind: KindCondition,
  { projects, domains }: LabelledPlaces,
): ObjectRows {
  const parts = [
    ...textsOf(values).map(
      (value) => sql`select label.kind, label.object_id as id from label_assignments as label
        where label.definition_id = ${definition.id} and label.value = ${value}`,
    ),
    ...projects.map(
      (id) => sql`select object.kind, object.id from label_objects as object
        where object.project_id = ${id} and ${hasNoneOf(definition.id)}`,
    ),
    ...domains.map(
      (id) => sql`select object.kind, object.id from label_objects as object
        where object.domain_id = ${id} and ${hasNoneOf(definition.id)}${isOutside(projects)}`,
    ),
  ]
  const sorted = parts.map(
    (part) => sql`(select kind, id from (${part}) as part where ${isKind} order by kind, id offset 0)`,
  )
  return sql<never>`${sql.join(sorted, sql` union all `)}`
}

/** What has a label of its own is in the part of its value. */
function hasNoneOf(definitionId: string) {
  return sql`not exists (
    select from label_assignments as label
    where label.kind = object.kind and label.object_id = object.id and label.definition_id = ${definitionId} offset 0)`
}

function isOutside(projects: readonly string[]) {
  if (projects.length === 0) return sql``
  return sql` and (object.project_id is null or object.project_id not in (${sql.join(projects)}))`
}
