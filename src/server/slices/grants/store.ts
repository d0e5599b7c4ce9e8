import type { Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import { byCreatedAt } from '../../sql/keyset.ts'
import type { RelationTupleRow } from '../../ports/tables/authz.ts'

export type GrantRecord = Selectable<RelationTupleRow>

/** The objects of these grants. */
export interface GrantObject {
  readonly type: 'domain' | 'platform' | 'node'
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

/** A grant on the Domain, or on one of its nodes that are in no Project. */
export function findGrantIn(db: Db, domainId: string, id: string): Promise<GrantRecord | undefined> {
  return db
    .selectFrom('relation_tuples')
    .selectAll()
    .where('id', '=', id)
    .where('domain_id', '=', domainId)
    .where('project_id', 'is', null)
    .where('resource_type', 'in', ['domain', 'node'])
    .where('structural', '=', false)
    .executeTakeFirst()
}

/** Locks a node of the Domain that is in no Project until the transaction ends; false when there is none. */
export async function holdFreeNode(db: Db, domainId: string, id: string): Promise<boolean> {
  const node = await freeNode(db, domainId, id).forKeyShare().executeTakeFirst()
  return node !== undefined
}

/** Whether the Domain has such a node, outside of its Projects. */
export async function hasFreeNode(db: Db, domainId: string, id: string): Promise<boolean> {
  return (await freeNode(db, domainId, id).executeTakeFirst()) !== undefined
}

const freeNode = (db: Db, domainId: string, id: string) =>
  db
    .selectFrom('nodes')
    .select('id')
    .where('id', '=', id)
    .where('domain_id', '=', domainId)
    .where('project_id', 'is', null)

/** Reads the grants on an object, oldest first. */
export function listGrants(db: Db, object: GrantObject, range: PageRange): Promise<GrantRecord[]> {
  return byCreatedAt.page(grantsOn(db, object).where('state', '=', 'live'), range).execute()
}
