import { sql, type Selectable } from 'kysely'
import type { Db } from '../ports/datastore.ts'
import type { RelationTupleRow } from '../ports/tables.ts'

export type GrantRecord = Selectable<RelationTupleRow>

/** What roles are granted on here. */
export interface GrantObject {
  readonly type: 'domain' | 'platform'
  readonly id: string
}

const grantsOn = (db: Db, object: GrantObject) =>
  db
    .selectFrom('relation_tuples')
    .selectAll()
    .where('resource_type', '=', object.type)
    .where('resource_id', '=', object.id)
    .where('structural', '=', false)

export function findGrant(db: Db, object: GrantObject, id: string): Promise<GrantRecord | undefined> {
  return grantsOn(db, object).where('id', '=', id).executeTakeFirst()
}

/** Who was just bound, as a tuple spells it in parts. */
export interface GrantParts {
  readonly subjectType: string
  readonly subjectId: string
  readonly relation: string
}

/** The grant without a caveat that binds the subject; there is at most one. */
export function findBinding(db: Db, object: GrantObject, parts: GrantParts): Promise<GrantRecord | undefined> {
  return grantsOn(db, object)
    .where('subject_type', '=', parts.subjectType)
    .where('subject_id', '=', parts.subjectId)
    .where('relation', '=', parts.relation)
    .where('caveat_name', '=', '')
    .executeTakeFirst()
}

/** Which grants to read: oldest first, from the first one after the given instant and id. */
export interface GrantRange {
  readonly after: { readonly createdAt: Date; readonly id: string } | undefined
  readonly count: number
}

export function listGrants(db: Db, object: GrantObject, { after, count }: GrantRange): Promise<GrantRecord[]> {
  const query = grantsOn(db, object).where('state', '=', 'live').orderBy('created_at').orderBy('id').limit(count)
  if (after === undefined) return query.execute()
  return query.where(sql<boolean>`(created_at, id) > (${after.createdAt}, ${after.id})`).execute()
}
