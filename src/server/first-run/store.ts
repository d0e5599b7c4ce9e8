import { sql } from 'kysely'
import type { Db } from '../ports/datastore.ts'

/** Key of the advisory lock that serializes first runs between replicas. */
const FOUNDING_LOCK = 0x63746c_03

/** Blocks other first runs until the transaction ends. */
export async function lockFounding(db: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(${FOUNDING_LOCK}::bigint)`.execute(db)
}

/** Whether a first run has created a Domain before. */
export async function hasDomain(db: Db): Promise<boolean> {
  return (await db.selectFrom('domains').select('id').limit(1).executeTakeFirst()) !== undefined
}

export async function findDomainId(db: Db, slug: string): Promise<string | undefined> {
  return (await db.selectFrom('domains').select('id').where('slug', '=', slug).executeTakeFirst())?.id
}

/** The service identity with that pseudonym in the Domain. */
export async function findIdentity(
  db: Db,
  domainId: string,
  pseudonym: string,
): Promise<{ readonly id: string; readonly isDisabled: boolean } | undefined> {
  const query = db
    .selectFrom('principals')
    .select(['id', 'disabled_at'])
    .where('domain_id', '=', domainId)
    .where('subject_pseudonym', '=', pseudonym)
  const found = await query.executeTakeFirst()
  return found && { id: found.id, isDisabled: found.disabled_at !== null }
}

export async function hasToken(db: Db, id: string): Promise<boolean> {
  return (await db.selectFrom('api_tokens').select('id').where('id', '=', id).executeTakeFirst()) !== undefined
}
