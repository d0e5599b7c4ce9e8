import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import type { BoundRequirement, BoundSelector } from '../../shared/selectors/bind-selector.ts'
import type { Definition } from '../../shared/selectors/definition.ts'

/** Where a statement has the objects whose labels are asked for. */
export interface ObjectColumns {
  /** The kind under which labels are stored: of networks and workloads `resource`. */
  readonly kind: Expression<unknown>
  readonly id: Expression<unknown>
  readonly domainId: Expression<unknown>
  readonly projectId: Expression<unknown>
}

/**
 * The condition that an object has the effective labels that a selector asks for: its own, else the one of its Project, then of
 * its Domain where the Definition is inherited. Orphaned labels have no Definition, so that none of them counts.
 *
 * Each requirement is a look-up of that object in an index. `offset 0` keeps the planner from turning it into a join: what drives
 * the statement keeps its order, and a page ends at its last row whatever the statistics are.
 */
export function selectorCondition({ requirements }: BoundSelector, columns: ObjectColumns): RawBuilder<SqlBool> {
  if (requirements.length === 0) return sql<SqlBool>`true`
  return sql<SqlBool>`(${sql.join(
    requirements.map((requirement) => requirementCondition(requirement, columns)),
    sql` and `,
  )})`
}

function requirementCondition(requirement: BoundRequirement, columns: ObjectColumns): RawBuilder<SqlBool> {
  const has = requirement.definition.inherit ? hasEffective(requirement, columns) : hasOwn(requirement, columns)
  return isNegative(requirement) ? sql<SqlBool>`not ${has}` : has
}

/** Whether an object without the label meets it. */
export function isNegative({ op }: BoundRequirement): boolean {
  return op === 'absent' || op === 'notin'
}

function hasOwn(requirement: BoundRequirement, { kind, id }: ObjectColumns): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (
    select from label_assignments as label
    where label.kind = ${kind} and label.object_id = ${id} and label.definition_id = ${requirement.definition.id}
      and ${labelTest(requirement)} offset 0)`
}

/** An own label hides an inherited one, so that the value is found first and then looked at. */
function hasEffective(requirement: BoundRequirement, columns: ObjectColumns): RawBuilder<SqlBool> {
  const effective = effectiveLabel(requirement.definition, columns, testedColumn(requirement))
  return sql<SqlBool>`coalesce(${labelTest(requirement, effective)}, false)`
}

/** The effective label of an object as text, or as a number where the column is that; null where it has none. */
export function effectiveLabel(
  { id: definitionId, inherit }: Definition,
  columns: ObjectColumns,
  column: 'value' | 'number' = 'value',
): RawBuilder<string | null> {
  const of = (kind: Expression<unknown>, id: Expression<unknown>) => sql`(
    select label.${sql.ref(column)} from label_assignments as label
    where label.kind = ${kind} and label.object_id = ${id} and label.definition_id = ${definitionId})`
  const own = of(columns.kind, columns.id)
  if (!inherit) return sql<string | null>`${own}`
  return sql<string | null>`coalesce(
    ${own}, ${of(sql`'project'`, columns.projectId)}, ${of(sql`'domain'`, columns.domainId)})`
}

/** What a requirement, or the opposite of a negative one, says of a label: by default of the row `label`. */
export function labelTest(
  requirement: BoundRequirement,
  label: Expression<unknown> = sql.ref(`label.${testedColumn(requirement)}`),
): RawBuilder<SqlBool> {
  if ('values' in requirement) return sql<SqlBool>`${label} in (${sql.join(textsOf(requirement.values))})`
  if ('value' in requirement)
    return sql<SqlBool>`${label} ${requirement.op === 'lt' ? sql`<` : sql`>`} ${requirement.value}::bigint`
  return sql<SqlBool>`${label} is not null`
}

function testedColumn(requirement: BoundRequirement): 'value' | 'number' {
  return 'value' in requirement ? 'number' : 'value'
}

/** The different values as they are stored. */
export function textsOf(values: readonly unknown[]): readonly string[] {
  return [...new Set(values.map(String))]
}
