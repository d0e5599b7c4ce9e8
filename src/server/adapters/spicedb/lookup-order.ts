import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'

/**
 * Sorts objects of a type by the revision of their first tuple, then by id, and returns them as references. The first
 * tuple is the live one with the lowest revision that has the object as resource, or as subject if there is none.
 */
export async function inOrder(
  db: Db,
  { type, ids }: { readonly type: string; readonly ids: readonly string[] },
): Promise<readonly string[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<{ reference: string }>`
    select ${type}::text || ':' || found.id as reference
    from unnest(${ids}::text[]) as found (id)
    left join lateral (
      select min(revision) as revision from relation_tuples
      where resource_type = ${type} and resource_id = found.id and state = 'live'
    ) as owned on true
    left join lateral (
      select min(revision) as revision from relation_tuples
      where subject_type = ${type} and subject_id = found.id and state = 'live'
    ) as held on true
    order by coalesce(owned.revision, held.revision), found.id collate "C"`.execute(db)
  return rows.map(({ reference }) => reference)
}
