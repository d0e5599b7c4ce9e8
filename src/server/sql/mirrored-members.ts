import { sql } from 'kysely'
import type { Db } from '../ports/datastore.ts'

/** Whether the group mirrors one of the identity provider, or has such a group among its members, directly or not. */
export async function hasMirroredMembers(db: Db, groupId: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    with recursive within (id) as (
      select ${groupId}::text
      union
      select tuple.subject_id
      from relation_tuples as tuple
      join within on tuple.resource_id = within.id
      where tuple.resource_type = 'group' and tuple.relation = 'member'
        and tuple.subject_type = 'group' and tuple.state = 'live'
    )
    select exists (
      select from groups join within on groups.id::text = within.id where groups.provider_group is not null
    ) as found`.execute(db)
  return rows[0]?.found === true
}
