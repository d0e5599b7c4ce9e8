import type { Selectable } from 'kysely'
import type { RoleSubject } from '../../../shared/role-subjects.ts'
import type { Db } from '../../ports/datastore.ts'
import type { RelationTupleRow } from '../../ports/tables/authz.ts'

export type TupleRecord = Selectable<RelationTupleRow>

const written = (db: Db) => db.selectFrom('relation_tuples').selectAll().where('structural', '=', false)

/** A tuple of a Project: the tuple API covers only those. */
export function findProjectTuple(db: Db, id: string): Promise<TupleRecord | undefined> {
  return written(db).where('id', '=', id).where('project_id', 'is not', null).executeTakeFirst()
}

/** A role on exactly that object. */
export function findRole(
  db: Db,
  object: { readonly type: string; readonly id: string },
  tupleId: string,
): Promise<TupleRecord | undefined> {
  return written(db)
    .where('id', '=', tupleId)
    .where('resource_type', '=', object.type)
    .where('resource_id', '=', object.id)
    .executeTakeFirst()
}

/** The Domain of a node that is in no Project; undefined when there is no such node. */
export async function findDomainOfFreeNode(db: Db, id: string): Promise<string | undefined> {
  const node = await db
    .selectFrom('nodes')
    .select('domain_id')
    .where('id', '=', id)
    .where('project_id', 'is', null)
    .executeTakeFirst()
  return node?.domain_id
}

/** The live tuple that equals it except for the id. */
export function findSame(db: Db, tuple: TupleParts): Promise<TupleRecord | undefined> {
  return written(db)
    .where('subject_type', '=', tuple.subject_type)
    .where('subject_id', '=', tuple.subject_id)
    .where('subject_relation', '=', tuple.subject_relation)
    .where('relation', '=', tuple.relation)
    .where('resource_type', '=', tuple.resource_type)
    .where('resource_id', '=', tuple.resource_id)
    .where('caveat_name', '=', tuple.caveat_name)
    .executeTakeFirst()
}

type TupleParts = Pick<
  TupleRecord,
  'subject_type' | 'subject_id' | 'subject_relation' | 'relation' | 'resource_type' | 'resource_id' | 'caveat_name'
>

/** The memberships of one subject in a group, with a caveat or without. */
export function findMemberships(db: Db, groupId: string, subject: RoleSubject): Promise<TupleRecord[]> {
  return written(db)
    .where('resource_type', '=', 'group')
    .where('resource_id', '=', groupId)
    .where('relation', '=', 'member')
    .where('subject_type', '=', subject.type)
    .where('subject_id', '=', subject.id)
    .orderBy('id')
    .execute()
}

/** The Domain of a group, and the provider's group that it mirrors; undefined when there is no such group. */
export function findGroup(
  db: Db,
  groupId: string,
): Promise<{ readonly domain_id: string; readonly provider_group: string | null } | undefined> {
  return db.selectFrom('groups').select(['domain_id', 'provider_group']).where('id', '=', groupId).executeTakeFirst()
}
