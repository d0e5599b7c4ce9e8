import { sql } from 'kysely'
import type { Db } from '../ports/datastore.ts'

/** A selector that a revision in force has for its nodes. */
export interface PolicySelector {
  readonly id: string
  /** Canonical text. */
  readonly selector: string
}

/** Reads what the policies of a Domain match. */
export function readPolicySelectors(tx: Db, domainId: string): Promise<PolicySelector[]> {
  return tx
    .selectFrom('policies')
    .innerJoin('policy_revisions as revision', 'revision.id', 'policies.revision_id')
    .select(['policies.id', 'revision.selector'])
    .where('policies.domain_id', '=', domainId)
    .orderBy('policies.id')
    .execute()
}

/** Those of the Domains that have policies. */
export async function domainsWithPolicies(tx: Db, domainIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await tx
    .selectFrom('policies')
    .select('domain_id')
    .distinct()
    .where('domain_id', '=', sql<string>`any(${domainIds}::uuid[])`)
    .execute()
  return new Set(rows.map(({ domain_id: id }) => id))
}

/**
 * Whether a Domain has policies. Nobody adds the first one until the transaction ends: a writer of policies locks the row of
 * the Domain. Unlike the lock of the Domain's peers, this one delays no registration.
 */
export async function holdsPolicies(tx: Db, domainId: string): Promise<boolean> {
  await tx.selectFrom('domains').select('id').where('id', '=', domainId).forShare().execute()
  const policy = await tx
    .selectFrom('policies')
    .select('id')
    .where('domain_id', '=', domainId)
    .limit(1)
    .executeTakeFirst()
  return policy !== undefined
}
