import { sql } from 'kysely'
import type { RoleSubject } from '../../shared/role-subjects.ts'
import type { Db } from '../ports/datastore.ts'

/** A Domain, or the platform, whose Domain is null. */
export interface ManagedPlace {
  /** `domain:<id>` or `platform:main`. */
  readonly object: string
  readonly domainId: string | null
}

/**
 * Where a subject holds the role `admin`, by itself or by a group that it is in, whatever the condition of the role: what
 * a caveat refuses now it may admit later. Nesting is at most 40 deep and without cycles.
 */
export async function managedPlaces(db: Db, { type, id }: RoleSubject): Promise<readonly ManagedPlace[]> {
  const { rows } = await sql<{ type: string; id: string }>`
    with recursive holders (type, id, relation) as (
      select ${type}::text, ${id}::text, ${type === 'group' ? 'member' : ''}::text
      union
      select 'group', tuple.resource_id, 'member'
      from relation_tuples as tuple
      join holders on tuple.subject_type = holders.type
        and tuple.subject_id = holders.id
        and tuple.subject_relation = holders.relation
      where tuple.resource_type = 'group' and tuple.relation = 'member' and tuple.state = 'live'
    )
    select distinct tuple.resource_type as type, tuple.resource_id as id
    from relation_tuples as tuple
    join holders on tuple.subject_type = holders.type
      and tuple.subject_id = holders.id
      and tuple.subject_relation = holders.relation
    where tuple.resource_type in ('domain', 'platform') and tuple.relation = 'admin' and tuple.state = 'live'
    order by 1, 2`.execute(db)
  return rows.map((place) => ({
    object: `${place.type}:${place.id}`,
    domainId: place.type === 'domain' ? place.id : null,
  }))
}
