import { sql } from 'kysely'
import type { Db } from '../ports/datastore.ts'

/** Serialises founding between replicas that start at once. */
const FOUNDING_LOCK = 0x63746c_03

/** Lets one transaction at a time found; held until it ends. */
export async function lockFounding(db: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(${FOUNDING_LOCK}::bigint)`.execute(db)
}

/** Whether anything was founded here before. */
export async function hasDomain(db: Db): Promise<boolean> {
  return (await db.selectFrom('domains').select('id').limit(1).executeTakeFirst()) !== undefined
}

export async function findDomainId(db: Db, slug: string): Promise<string | undefined> {
  return (await db.selectFrom('domains').select('id').where('slug', '=', slug).executeTakeFirst())?.id
}

/** The service identity with that pseudonym in the Domain. */
export async function findIdentityId(db: Db, domainId: string, pseudonym: string): Promise<string | undefined> {
  const query = db
    .selectFrom('principals')
    .select('id')
    .where('domain_id', '=', domainId)
    .where('subject_pseudonym', '=', pseudonym)
  return (await query.executeTakeFirst())?.id
}

export async function hasToken(db: Db, id: string): Promise<boolean> {
  return (await db.selectFrom('api_tokens').select('id').where('id', '=', id).executeTakeFirst()) !== undefined
}
