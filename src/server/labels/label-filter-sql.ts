import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Requirement } from '../../shared/selectors/syntax.ts'
import type { LabelFilter } from './label-filter.ts'
import { integerOf } from '../../shared/selectors/typed-value.ts'
import { selectorCondition, textsOf, type ObjectColumns } from './selector-sql.ts'

/** The columns of a list of nodes that a filter looks at. */
export interface FilteredColumns extends ObjectColumns {
  /** The copy of the node's labels in its row. */
  readonly labels: RawBuilder<unknown>
}

/** The condition of the nodes that a filter shows. */
export function labelFilterCondition(filter: LabelFilter, columns: FilteredColumns): RawBuilder<SqlBool> {
  if (filter.form === 'nothing') return sql<SqlBool>`false`
  if (filter.form === 'texts') return sql<SqlBool>`${columns.labels} @> ${JSON.stringify(filter.labels)}::jsonb`
  const local = filter.local.map((requirement) => localCondition(requirement, columns))
  return sql<SqlBool>`${sql.join([selectorCondition(filter.bound, columns), ...local], sql` and `)}`
}

/**
 * The condition of a requirement whose key may be that of several Definitions: a label of any of them counts. An object whose place
 * sees no such Definition does not match, whatever the operator is.
 */
function localCondition(requirement: Requirement, columns: ObjectColumns): RawBuilder<SqlBool> {
  const { op, key } = requirement
  const has = sql<SqlBool>`(${sql.join(
    [
      hasLabel(requirement, columns, 'own'),
      hasLabel(requirement, columns, 'project'),
      hasLabel(requirement, columns, 'domain'),
    ],
    sql` or `,
  )})`
  return op === 'absent' || op === 'notin' ? sql<SqlBool>`(${isSeen(key.localKey, columns)} and not ${has})` : has
}

function isSeen(localKey: string, { domainId, projectId }: ObjectColumns): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (
    select from label_definitions as definition
    where definition.local_key = ${localKey} and (definition.scope_kind = 'platform'
      or (definition.scope_kind = 'domain' and definition.domain_id = ${domainId})
      or (definition.scope_kind = 'project' and definition.project_id = ${projectId})) offset 0)`
}

type Holder = 'own' | 'project' | 'domain'

/** Whether the object, or a place that it is in, has a label that the object does not have from nearer by. */
function hasLabel(requirement: Requirement, columns: ObjectColumns, holder: Holder): RawBuilder<SqlBool> {
  const nearer = NEARER[holder].map((each) => sql` and not ${hasSame(columns, each)}`)
  return sql<SqlBool>`exists (
    select from label_assignments as label
    join label_definitions as definition on definition.id = label.definition_id
    where ${isOf('label', columns, holder)} and definition.local_key = ${requirement.key.localKey}
      ${holder === 'own' ? sql`` : sql`and definition.inherit`} and ${valueTest(requirement)}${sql.join(nearer, sql``)} offset 0)`
}

const NEARER: Readonly<Record<Holder, readonly Holder[]>> = { own: [], project: ['own'], domain: ['own', 'project'] }

function hasSame(columns: ObjectColumns, holder: Holder): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (
    select from label_assignments as nearer
    where ${isOf('nearer', columns, holder)} and nearer.definition_id = label.definition_id)`
}

function isOf(alias: 'label' | 'nearer', columns: ObjectColumns, holder: Holder): RawBuilder<SqlBool> {
  const [kind, id] = {
    own: [columns.kind, columns.id],
    project: [sql`'project'`, columns.projectId],
    domain: [sql`'domain'`, columns.domainId],
  }[holder]
  return sql<SqlBool>`${sql.ref(`${alias}.kind`)} = ${kind} and ${sql.ref(`${alias}.object_id`)} = ${id}`
}

/** A value of any type has one text, so that texts are compared; only integers have an order. */
function valueTest(requirement: Requirement): RawBuilder<SqlBool> {
  if ('values' in requirement)
    return sql<SqlBool>`label.value in (${sql.join(textsOf(requirement.values.map(({ text }) => text)))})`
  if (!('value' in requirement)) return sql<SqlBool>`true`
  const integer = integerOf(requirement.value.text)
  if (integer === undefined) return sql<SqlBool>`false`
  return sql<SqlBool>`label.number ${requirement.op === 'lt' ? sql`<` : sql`>`} ${integer}::bigint`
}
