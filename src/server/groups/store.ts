import { sql, type Selectable } from 'kysely'
import type { Db } from '../ports/datastore.ts'
import type { GroupRow } from '../ports/tables.ts'

export type GroupRecord = Selectable<GroupRow>

/** Where a group is named: its Domain and its own id. */
export interface GroupPlace {
  readonly domainId: string
  readonly id: string
}

/** Keeps the Domain from being deleted until the transaction ends; false when there is none. */
export async function holdDomain(db: Db, domainId: string): Promise<boolean> {
  const domain = await db.selectFrom('domains').select('id').where('id', '=', domainId).forKeyShare().executeTakeFirst()
  return domain !== undefined
}

/** Inserts the group; false when its slug is taken in the Domain. */
export async function insertGroup(db: Db, group: GroupRecord): Promise<boolean> {
  const inserted = await db
    .insertInto('groups')
    .values(group)
    .onConflict((conflict) => conflict.columns(['domain_id', 'slug']).doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

const groupAt = (db: Db, { domainId, id }: GroupPlace) =>
  db.selectFrom('groups').selectAll().where('id', '=', id).where('domain_id', '=', domainId)

export function findGroup(db: Db, place: GroupPlace): Promise<GroupRecord | undefined> {
  return groupAt(db, place).executeTakeFirst()
}

/** Locks the group, so that its members are changed by one caller at a time; it may still become a member elsewhere. */
export function lockForMembers(db: Db, place: GroupPlace): Promise<GroupRecord | undefined> {
  return groupAt(db, place).forNoKeyUpdate().executeTakeFirst()
}

/** Locks the group against everything that would refer to it. */
export function lockForDelete(db: Db, place: GroupPlace): Promise<GroupRecord | undefined> {
  return groupAt(db, place).forUpdate().executeTakeFirst()
}

export async function deleteGroup(db: Db, id: string): Promise<void> {
  await db.deleteFrom('groups').where('id', '=', id).execute()
}

/** Which groups of a Domain to read: in the byte order of their slugs, from the first one after `afterSlug`. */
export interface GroupRange {
  readonly domainId: string
  readonly afterSlug: string | undefined
  readonly count: number
}

export function listGroups(db: Db, { domainId, afterSlug, count }: GroupRange): Promise<GroupRecord[]> {
  return db
    .selectFrom('groups')
    .selectAll()
    .where('domain_id', '=', domainId)
    .$if(afterSlug !== undefined, (query) => query.where('slug', '>', afterSlug ?? ''))
    .orderBy('slug')
    .limit(count)
    .execute()
}

/** A direct membership. */
export interface Membership {
  readonly id: string
  readonly subject_type: string
  readonly subject_id: string
  readonly subject_relation: string
}

const membershipsOf = (db: Db, groupId: string) =>
  db
    .selectFrom('relation_tuples')
    .select(['id', 'subject_type', 'subject_id', 'subject_relation'])
    .where('resource_type', '=', 'group')
    .where('resource_id', '=', groupId)
    .where('relation', '=', 'member')

/** The direct members, oldest first; their number is bounded where they are added. */
export function listMembers(db: Db, groupId: string): Promise<Membership[]> {
  return membershipsOf(db, groupId).where('state', '=', 'live').orderBy('created_at').orderBy('id').execute()
}

/** The memberships of one subject: one without a caveat, others where a tuple was written with one. */
export function findMemberships(
  db: Db,
  groupId: string,
  subject: { readonly type: string; readonly id: string },
): Promise<Membership[]> {
  return membershipsOf(db, groupId)
    .where('subject_type', '=', subject.type)
    .where('subject_id', '=', subject.id)
    .orderBy('id')
    .execute()
}

export async function countMembers(db: Db, groupId: string): Promise<number> {
  const { members } = await db
    .selectFrom('relation_tuples')
    .select(sql<number>`count(*)::int`.as('members'))
    .where('resource_type', '=', 'group')
    .where('resource_id', '=', groupId)
    .where('relation', '=', 'member')
    .executeTakeFirstOrThrow()
  return members
}
