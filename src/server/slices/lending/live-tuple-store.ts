import { sql, type RawBuilder } from 'kysely'

/**
 * Whether the rights of the row `assignment` are granted: it is approved, and its tuple is live. With SpiceDB a tuple is
 * live once that engine has it. `object` is the column that names what is lent.
 */
export function isMaterialised(relation: 'uses' | 'consumer', type: string, object: string): RawBuilder<boolean> {
  return sql<boolean>`(assignment.state = 'approved' and exists (
    select 1 from relation_tuples as tuple
    where tuple.resource_type = ${type} and tuple.resource_id = ${sql.ref(`assignment.${object}`)}::text
      and tuple.relation = ${relation} and tuple.subject_type = 'project'
      and tuple.subject_id = assignment.project_id::text
      and tuple.subject_relation = '' and tuple.caveat_name = '' and tuple.state = 'live'
  ))`
}
