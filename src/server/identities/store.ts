import { sql, type Selectable } from 'kysely'
import type { Db } from '../ports/datastore.ts'
import type { PrincipalRow } from '../ports/tables.ts'

export type PrincipalRecord = Selectable<PrincipalRow>

/** Keeps a principal of the Domain from being deleted until the transaction ends; false when there is none. */
export async function holdPrincipal(db: Db, domainId: string, id: string): Promise<boolean> {
  const principal = await db
    .selectFrom('principals')
    .select('id')
    .where('id', '=', id)
    .where('domain_id', '=', domainId)
    .forKeyShare()
    .executeTakeFirst()
  return principal !== undefined
}

/** Inserts the principal; false when its Domain has one with that subject or SPIFFE ID. */
export async function insertPrincipal(db: Db, principal: PrincipalRecord): Promise<boolean> {
  const jwks = principal.jwks === null ? null : JSON.stringify(principal.jwks)
  const inserted = await db
    .insertInto('principals')
    .values({ ...principal, jwks })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

/** The principal, if it is one of that Domain. */
export function findPrincipal(db: Db, domainId: string, id: string): Promise<PrincipalRecord | undefined> {
  return db
    .selectFrom('principals')
    .selectAll()
    .where('id', '=', id)
    .where('domain_id', '=', domainId)
    .executeTakeFirst()
}

/** The user of the Domain with that pseudonym. */
export function findUser(db: Db, domainId: string, pseudonym: string): Promise<PrincipalRecord | undefined> {
  return ofPseudonym(db, domainId, pseudonym).where('kind', '=', 'user').executeTakeFirst()
}

/** The service identity of the Domain with that pseudonym. */
export function findServiceIdentity(db: Db, domainId: string, pseudonym: string): Promise<PrincipalRecord | undefined> {
  return ofPseudonym(db, domainId, pseudonym).where('kind', '=', 'service-identity').executeTakeFirst()
}

const ofPseudonym = (db: Db, domainId: string, pseudonym: string) =>
  db.selectFrom('principals').selectAll().where('domain_id', '=', domainId).where('subject_pseudonym', '=', pseudonym)

/**
 * Stores when service identities authenticated, where that is a minute or more after the stored time. Rows are locked in
 * the order of their ids, against deadlocks between replicas.
 */
export async function writeServiceSignIns(
  db: Db,
  signIns: readonly { readonly id: string; readonly at: Date }[],
): Promise<void> {
  await sql`
    with seen as (
      select identity.id, sign_in.at
      from unnest(${signIns.map(({ id }) => id)}::uuid[], ${signIns.map(({ at }) => at.toISOString())}::timestamptz[])
        as sign_in (id, at)
      join principals as identity on identity.id = sign_in.id and identity.kind = 'service-identity'
      where identity.last_sign_in_at is null or identity.last_sign_in_at <= sign_in.at - interval '1 minute'
      order by identity.id
      for no key update of identity
    )
    update principals set last_sign_in_at = seen.at from seen where principals.id = seen.id
  `.execute(db)
}

/** Writes what a sign-in says of a user. */
export async function updateUser(
  db: Db,
  id: string,
  seen: Pick<PrincipalRecord, 'display_name' | 'email' | 'last_sign_in_at' | 'updated_at'>,
): Promise<void> {
  await db.updateTable('principals').set(seen).where('id', '=', id).where('kind', '=', 'user').execute()
}

/** Which principals of a Domain to list: the newest first, going on after `after`. */
export interface PrincipalRange {
  readonly domainId: string
  readonly kind: PrincipalRecord['kind'] | undefined
  readonly after: { readonly createdAt: Date; readonly id: string } | undefined
  readonly count: number
}

export type ListedPrincipal = Pick<
  PrincipalRecord,
  'id' | 'domain_id' | 'kind' | 'display_name' | 'subject_pseudonym' | 'last_sign_in_at' | 'created_at'
>

export function listPrincipals(db: Db, { domainId, kind, after, count }: PrincipalRange): Promise<ListedPrincipal[]> {
  let query = db
    .selectFrom('principals')
    .select(['id', 'domain_id', 'kind', 'display_name', 'subject_pseudonym', 'last_sign_in_at', 'created_at'])
    .where('domain_id', '=', domainId)
  if (kind !== undefined) query = query.where('kind', '=', kind)
  if (after !== undefined) {
    query = query.where((row) => row(row.refTuple('created_at', 'id'), '<', row.tuple(after.createdAt, after.id)))
  }
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(count).execute()
}
