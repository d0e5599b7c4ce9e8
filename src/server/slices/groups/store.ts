import { sql, type Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import { bySlug } from '../../sql/keyset.ts'
import { conflictsAs, type Conflicts } from '../../sql/unique.ts'
import type { GroupRow } from '../../ports/tables/tenancy.ts'

export type GroupRecord = Selectable<GroupRow>

/** The key of a group: its Domain and its own id. */
export interface GroupPlace {
  readonly domainId: string
  readonly id: string
}

const CONFLICTS: Conflicts = {
  groups_domain_slug_key: 'slug_conflict',
  groups_provider_group_key: 'provider_group_conflict',
}

/** @throws Problem `slug_conflict`, `provider_group_conflict` where another group of the Domain has that name. */
export async function insertGroup(db: Db, group: GroupRecord): Promise<void> {
  await conflictsAs(db.insertInto('groups').values(group).execute(), CONFLICTS)
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

/** Undefined when the Domain has no such group. */
export function renameGroup(db: Db, { domainId, id }: GroupPlace, name: string): Promise<GroupRecord | undefined> {
  return db
    .updateTable('groups')
    .set({ display_name: name })
    .where('id', '=', id)
    .where('domain_id', '=', domainId)
    .returningAll()
    .executeTakeFirst()
}

export async function deleteGroup(db: Db, id: string): Promise<void> {
  await db.deleteFrom('groups').where('id', '=', id).execute()
}

/** Reads the groups of a Domain by slug. */
export function listGroups(db: Db, domainId: string, range: PageRange): Promise<GroupRecord[]> {
  return bySlug.page(db.selectFrom('groups').selectAll().where('domain_id', '=', domainId), range).execute()
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

/** The direct members, oldest first; their number is bounded when they are added. */
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

/** A group that mirrors one of the provider, and the user's own membership in it. */
export interface MirroredGroup {
  readonly group: GroupRecord
  readonly membershipId: string | null
}

/**
 * The mirrored groups of the Domain that the provider names or that the user is in, by id: the order in which they are
 * locked, so that two sign-ins never wait for each other. Their number is bounded by that of the Domain's groups.
 */
export async function listMirrored(
  db: Db,
  at: { readonly domainId: string; readonly userId: string; readonly names: readonly string[] },
): Promise<MirroredGroup[]> {
  const rows = await db
    .selectFrom('groups')
    .leftJoin('relation_tuples as membership', (join) =>
      join
        .on('membership.resource_type', '=', 'group')
        .on(sql`membership.resource_id`, '=', sql`groups.id::text`)
        .on('membership.relation', '=', 'member')
        .on('membership.subject_type', '=', 'user')
        .on('membership.subject_id', '=', at.userId)
        .on('membership.subject_relation', '=', ''),
    )
    .selectAll('groups')
    .select('membership.id as membership_id')
    .where('groups.domain_id', '=', at.domainId)
    .where('groups.provider_group', 'is not', null)
    .where((row) =>
      row.or([
        row('membership.id', 'is not', null),
        row('groups.provider_group', '=', sql<string>`any(${[...at.names]}::text[])`),
      ]),
    )
    .orderBy('groups.id')
    .execute()
  return rows.map(({ membership_id: membershipId, ...group }) => ({ group, membershipId }))
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
