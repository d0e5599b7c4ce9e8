import { sql, type Selectable } from 'kysely'
import type { PolicyDocument } from '../../../shared/policies/policy-document.ts'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import type { PolicyRevisionRow, PolicyRow } from '../../ports/tables/policies.ts'
import { byNumberDescending, bySlug } from '../../sql/keyset.ts'
import { holdPeers } from '../../sql/state-revisions.ts'
import { conflictsAs } from '../../sql/unique.ts'

export type RevisionRecord = Selectable<PolicyRevisionRow>

/** A policy with its revision in force. */
export type PolicyRecord = Selectable<PolicyRow> &
  Pick<RevisionRecord, 'number' | 'display_name' | 'selector' | 'document' | 'rules' | 'fingerprint'> & {
    /** Nodes that it matches. */
    readonly matched_count: number
  }

const withRevision = (db: Db) =>
  db
    .selectFrom('policies')
    .innerJoin('policy_revisions as revision', 'revision.id', 'policies.revision_id')
    .selectAll('policies')
    .select([
      'revision.number',
      'revision.display_name',
      'revision.selector',
      'revision.document',
      'revision.rules',
      'revision.fingerprint',
    ])
    .select(sql<number>`(select count(*)::int from policy_matches where policy_id = policies.id)`.as('matched_count'))

export function findPolicy(db: Db, id: string): Promise<PolicyRecord | undefined> {
  return withRevision(db).where('policies.id', '=', id).executeTakeFirst()
}

/** Reads the policies of a Domain by slug. */
export function listPolicies(db: Db, domainId: string, range: PageRange): Promise<PolicyRecord[]> {
  return bySlug.page(withRevision(db).where('policies.domain_id', '=', domainId), range).execute()
}

/** Reads the revisions of a policy, newest first. */
export function listRevisions(db: Db, policyId: string, range: PageRange): Promise<RevisionRecord[]> {
  const revisions = db.selectFrom('policy_revisions').selectAll().where('policy_id', '=', policyId)
  return byNumberDescending.page(revisions, range).execute()
}

export function findRevision(db: Db, policyId: string, id: string): Promise<RevisionRecord | undefined> {
  return db
    .selectFrom('policy_revisions')
    .selectAll()
    .where('policy_id', '=', policyId)
    .where('id', '=', id)
    .executeTakeFirst()
}

export async function countPolicies(db: Db, domainId: string): Promise<number> {
  const { policies } = await db
    .selectFrom('policies')
    .select(sql<number>`count(*)::int`.as('policies'))
    .where('domain_id', '=', domainId)
    .executeTakeFirstOrThrow()
  return policies
}

/** @throws Problem `slug_conflict` */
export async function insertPolicy(db: Db, policy: Selectable<PolicyRow>): Promise<void> {
  await conflictsAs(db.insertInto('policies').values(policy).execute(), { policies_domain_slug_key: 'slug_conflict' })
}

export async function updatePolicy(
  db: Db,
  { id, ...set }: Pick<PolicyRow, 'id' | 'revision_id' | 'applied_revision_id' | 'updated_at'>,
): Promise<void> {
  await db.updateTable('policies').set(set).where('id', '=', id).execute()
}

export type NewRevision = Omit<RevisionRecord, 'document'> & { readonly document: PolicyDocument }

export async function insertRevision(db: Db, { document, ...revision }: NewRevision): Promise<void> {
  await db
    .insertInto('policy_revisions')
    .values({ ...revision, document: JSON.stringify(document) })
    .execute()
}

/** Deletes the policy; its revisions, matches and uses of groups go with it by their foreign keys. */
export async function deletePolicy(db: Db, id: string): Promise<void> {
  await db.deleteFrom('policies').where('id', '=', id).execute()
}

/**
 * Locks the policies of a Domain and what follows from them until the transaction ends: the Domain's row, then that of its
 * peers. False when there is no such Domain.
 */
export async function holdPolicies(tx: Db, domainId: string): Promise<boolean> {
  const domain = await tx
    .selectFrom('domains')
    .select('id')
    .where('id', '=', domainId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (domain === undefined) return false
  // A Domain without nodes has no row yet, and the numbers of its groups are kept there.
  await sql`
    insert into domain_peers (domain_id, revision) values (${domainId}, 0) on conflict do nothing`.execute(tx)
  await holdPeers(tx, domainId)
  return true
}
