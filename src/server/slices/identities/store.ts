import { sql, type ExpressionBuilder, type Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import { byCreatedAtDescending } from '../../sql/keyset.ts'
import { conflictsAs, type Conflicts } from '../../sql/unique.ts'
import type { PrincipalRow } from '../../ports/tables/identity.ts'
import type { Tables } from '../../ports/tables/tables.ts'

export type PrincipalRecord = Selectable<PrincipalRow>

const SERVICE_IDENTITY_CONFLICTS: Conflicts = {
  principals_domain_subject_key: 'service_identity_already_exists',
  principals_spiffe_id_key: 'service_identity_already_exists',
}

/** Locks a service identity of the Domain against everything that would refer to it. */
export function lockServiceIdentity(db: Db, domainId: string, id: string): Promise<PrincipalRecord | undefined> {
  return db
    .selectFrom('principals')
    .selectAll()
    .where('id', '=', id)
    .where('domain_id', '=', domainId)
    .where('kind', '=', 'service-identity')
    .forUpdate()
    .executeTakeFirst()
}

/** The columns of a service identity that people may change. */
export type ServiceIdentityValues = Partial<
  Pick<PrincipalRecord, 'display_name' | 'jwks' | 'spiffe_id' | 'disabled_at'>
> &
  Pick<PrincipalRecord, 'updated_at'>

/** @throws Problem `service_identity_already_exists` where another principal of the Domain has that SPIFFE ID. */
export function updateServiceIdentity(
  db: Db,
  id: string,
  { jwks, ...values }: ServiceIdentityValues,
): Promise<PrincipalRecord> {
  const write = db
    .updateTable('principals')
    .set({ ...values, ...(jwks !== undefined && { jwks: jwks === null ? null : JSON.stringify(jwks) }) })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return conflictsAs(write, SERVICE_IDENTITY_CONFLICTS)
}

export async function deletePrincipal(db: Db, id: string): Promise<void> {
  await db.deleteFrom('principals').where('id', '=', id).execute()
}

/** The open requests of a principal to nodes. */
export type UnderWay = {
  readonly executions: number
  readonly mediated_sessions: number
}

/** Counts executions that have not ended and sessions that are live, all of the principal's own Domain. */
export async function countUnderWay(
  db: Db,
  { domainId, reference, now }: { readonly domainId: string; readonly reference: string; readonly now: Date },
): Promise<UnderWay> {
  const { rows } = await sql<UnderWay>`
    select
      (select count(*)::int from executions
        where domain_id = ${domainId} and requested_by = ${reference} and finished_at is null) as executions,
      (select count(*)::int from mediated_sessions as session join nodes as node on node.id = session.node_id
        where node.domain_id = ${domainId} and session.issued_by = ${reference}
          and session.ended_at is null and session.expires_at > ${now}) as mediated_sessions`.execute(db)
  return rows[0] ?? { executions: 0, mediated_sessions: 0 }
}

/** Inserts a user, whose subject is new to its Domain. */
export async function insertUser(db: Db, user: PrincipalRecord): Promise<void> {
  await insertPrincipal(db, user)
}

/** @throws Problem `service_identity_already_exists` where the Domain has one with that subject or SPIFFE ID. */
export async function insertServiceIdentity(db: Db, identity: PrincipalRecord): Promise<void> {
  await conflictsAs(insertPrincipal(db, identity), SERVICE_IDENTITY_CONFLICTS)
}

async function insertPrincipal(db: Db, principal: PrincipalRecord): Promise<void> {
  const jwks = principal.jwks === null ? null : JSON.stringify(principal.jwks)
  await db
    .insertInto('principals')
    .values({ ...principal, jwks })
    .execute()
}

/** The principal, if it is one of that Domain. */
export function findPrincipal(db: Db, domainId: string, id: string): Promise<PrincipalWithLogin | undefined> {
  const query = db.selectFrom('principals').where('id', '=', id).where('domain_id', '=', domainId)
  return query.selectAll().select(LOGIN).executeTakeFirst()
}

/** The user of the Domain with that pseudonym. */
export function findUser(db: Db, domainId: string, pseudonym: string): Promise<PrincipalRecord | undefined> {
  return ofPseudonym(db, domainId, pseudonym).selectAll().where('kind', '=', 'user').executeTakeFirst()
}

/** The service identity of the Domain with that pseudonym. */
export function findServiceIdentity(db: Db, domainId: string, pseudonym: string): Promise<PrincipalRecord | undefined> {
  return ofPseudonym(db, domainId, pseudonym).selectAll().where('kind', '=', 'service-identity').executeTakeFirst()
}

const ofPseudonym = (db: Db, domainId: string, pseudonym: string) =>
  db.selectFrom('principals').where('domain_id', '=', domainId).where('subject_pseudonym', '=', pseudonym)

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

/** Stores the facts of a sign-in about a user. */
export async function updateUser(
  db: Db,
  id: string,
  seen: Pick<PrincipalRecord, 'display_name' | 'email' | 'last_sign_in_at' | 'updated_at'>,
): Promise<void> {
  await db.updateTable('principals').set(seen).where('id', '=', id).where('kind', '=', 'user').execute()
}

/** Which principals of a Domain to list. */
export interface PrincipalFilter {
  readonly domainId: string
  readonly kind: PrincipalRecord['kind'] | undefined
  readonly handled: Handled | undefined
}

/** A handle of a principal. Only equality is tested, so that nobody learns a handle that they did not know. */
export interface Handled {
  /** The pseudonym of the handle as the subject of a service identity. */
  readonly pseudonym: string
  /** Of a local account. */
  readonly login: string
  /** Undefined where the caller may not see addresses. */
  readonly email: string | undefined
}

const SUMMARY = [
  'id',
  'kind',
  'domain_id',
  'display_name',
  'subject_pseudonym',
  'last_sign_in_at',
  'created_at',
  'disabled_at',
] as const satisfies readonly (keyof PrincipalRow)[]

const IDENTIFYING = ['subject_sealed', 'email'] as const satisfies readonly (keyof PrincipalRow)[]

/** The columns that everybody who may see a principal may read. */
export type PrincipalSummary = Pick<PrincipalRecord, (typeof SUMMARY)[number]>

/** The columns that only auditors may read, with the login of its local account, if it has one. */
export type IdentifyingColumns = Pick<PrincipalRecord, (typeof IDENTIFYING)[number]> & { readonly login: string | null }

export type RevealedPrincipal = PrincipalSummary & IdentifyingColumns

/** A whole principal with the login of its local account. */
export type PrincipalWithLogin = PrincipalRecord & Pick<IdentifyingColumns, 'login'>

const LOGIN = (row: ExpressionBuilder<Tables, 'principals'>) =>
  row
    .selectFrom('local_accounts')
    .select('login')
    .whereRef('local_accounts.principal_id', '=', 'principals.id')
    .as('login')

/** Selects principals of a Domain, the newest first, with the columns that everybody may read. */
export function selectPrincipals(db: Db, { domainId, kind, handled }: PrincipalFilter, range: PageRange) {
  let query = db.selectFrom('principals').select(SUMMARY).where('domain_id', '=', domainId)
  if (kind !== undefined) query = query.where('kind', '=', kind)
  if (handled !== undefined) query = query.where('id', 'in', idsOf(db, domainId, handled))
  return byCreatedAtDescending.page(query, range)
}

/** Selects the same with what identifies them outside of the Domain. */
export function selectRevealed(db: Db, filter: PrincipalFilter, range: PageRange) {
  return selectPrincipals(db, filter, range).select(IDENTIFYING).select(LOGIN)
}

/** One indexed look-up for each kind of handle: an `or` over them would read every principal of the Domain. */
function idsOf(db: Db, domainId: string, { pseudonym, login, email }: Handled) {
  const bySubject = ofPseudonym(db, domainId, pseudonym).where('kind', '=', 'service-identity').select('id')
  const byLogin = db.selectFrom('local_accounts').where('login', '=', login).select('principal_id as id')
  const ids = bySubject.union(byLogin)
  if (email === undefined) return ids
  return ids.union(
    db.selectFrom('principals').where('domain_id', '=', domainId).where('email', '=', email).select('id'),
  )
}
