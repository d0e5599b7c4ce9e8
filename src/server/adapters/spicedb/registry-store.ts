import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { ObjectName } from './messages.ts'

/** A relation of an object, with the API's names. */
export interface RelationOf {
  readonly object: ObjectName
  readonly relation: string
}

export const nameOfRelation = ({ object, relation }: RelationOf): string => `${object.type}:${object.id}#${relation}`

/** The Domains (`null`: the platform) of the tuples with caveats of some relations, by the relation's name. */
export async function readCaveatDomains(
  db: Db,
  relations: readonly RelationOf[],
): Promise<ReadonlyMap<string, ReadonlySet<string | null>>> {
  const { rows } = await sql<{ name: string; domain_ids: (string | null)[] }>`
    select resource_type || ':' || resource_id || '#' || relation as name, array_agg(distinct domain_id::text) as domain_ids
    from relation_tuples
    join unnest(
      ${relations.map(({ object }) => object.type)}::text[],
      ${relations.map(({ object }) => object.id)}::text[],
      ${relations.map(({ relation }) => relation)}::text[]
    ) as asked (type, id, name)
      on resource_type = asked.type and resource_id = asked.id and relation = asked.name
    where caveat_name <> ''
    group by 1`.execute(db)
  return new Map(rows.map(({ name, domain_ids }) => [name, new Set(domain_ids)]))
}

/**
 * Maximum of parent edges between an object and its Domain, as for a token: its owner, then the Domain. This server
 * writes no longer paths.
 */
const STEPS_MAX = 4

export interface Ancestor extends ObjectName {
  /** Whether it has a parent itself. */
  readonly has_parent: boolean
}

/**
 * Follows the parent edges from an object upward. If an object has several, the order of `parentRelations`
 * (`<type>#<relation>`) decides. The object itself comes first.
 */
export async function readAncestors(
  db: Db,
  object: ObjectName,
  parentRelations: readonly string[],
): Promise<readonly Ancestor[]> {
  const { rows } = await sql<Ancestor>`
    with recursive line (step, type, id) as (
      select 0, ${object.type}::text, ${object.id}::text
      union all
      select line.step + 1, parent.subject_type, parent.subject_id
      from line
      cross join lateral (
        select subject_type, subject_id
        from relation_tuples
        where resource_type = line.type and resource_id = line.id and structural
        order by array_position(${parentRelations}::text[], resource_type || '#' || relation), id
        limit 1
      ) as parent
      where line.step < ${STEPS_MAX}
    )
    select type, id, exists (
      select from relation_tuples
      where resource_type = line.type and resource_id = line.id and structural
    ) as has_parent
    from line order by step`.execute(db)
  return rows
}
