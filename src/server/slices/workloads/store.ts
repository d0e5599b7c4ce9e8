import { sql, type Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { TrustBundleRow } from './tables.ts'
import type { StoredKey } from './public-key.ts'

/** A service identity that may authenticate. */
export interface ServiceIdentity {
  readonly id: string
  readonly domainId: string
  readonly keys: readonly StoredKey[]
}

/** The service identity with its keys; undefined when there is none, or it is disabled. */
export async function findServiceIdentity(db: Db, id: string): Promise<ServiceIdentity | undefined> {
  const row = await db
    .selectFrom('principals')
    .select(['id', 'domain_id', 'jwks'])
    .where('id', '=', id)
    .where('kind', '=', 'service-identity')
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
  return row && { id: row.id, domainId: row.domain_id, keys: keysOf(row.jwks) }
}

/** The set was checked when it was stored. */
const keysOf = (jwks: unknown): readonly StoredKey[] => (jwks as { readonly keys: StoredKey[] } | null)?.keys ?? []

/** A service identity with the keys that its Domain trusts for its trust domain. */
export interface TrustedIdentity {
  readonly id: string
  readonly domainId: string
  readonly spiffeId: string
  readonly bundleKeys: readonly StoredKey[]
}

/** The identities that a JWT-SVID may authenticate. */
export interface Workload {
  readonly spiffeId: string
  readonly trustDomain: string
  /** Only the identity of this id. */
  readonly identityId: string | undefined
}

/** Maximum of Domains with an identity for one SPIFFE ID; beyond it the caller must name one. */
const TRUSTED_MAX = 8

/** The identities for a SPIFFE ID in Domains with a bundle of its trust domain. */
export async function findTrustedIdentities(
  db: Db,
  { spiffeId, trustDomain, identityId }: Workload,
): Promise<readonly TrustedIdentity[]> {
  let query = db
    .selectFrom('principals as identity')
    .innerJoin('trust_bundles as bundle', 'bundle.domain_id', 'identity.domain_id')
    .select(['identity.id', 'identity.domain_id as domainId', 'bundle.jwks'])
    .where('identity.spiffe_id', '=', spiffeId)
    .where('identity.kind', '=', 'service-identity')
    .where('identity.disabled_at', 'is', null)
    .where('bundle.trust_domain', '=', trustDomain)
  if (identityId !== undefined) query = query.where('identity.id', '=', identityId)
  const rows = await query.orderBy('identity.id').limit(TRUSTED_MAX).execute()
  return rows.map(({ id, domainId, jwks }) => ({ id, domainId, spiffeId, bundleKeys: jwks.keys }))
}

/** An assertion by the hash of its issuer and `jti`. */
export interface UsedAssertion {
  readonly hash: Buffer
  /** When it is too old to be used again. */
  readonly expiresAt: Date
}

/** Uses the assertion up, with the transaction; false when it was before. A concurrent second use waits for the first. */
export async function useAssertion(db: Db, { hash, expiresAt }: UsedAssertion): Promise<boolean> {
  const row = await db
    .insertInto('used_assertions')
    .values({ assertion_hash: hash, expires_at: expiresAt })
    .onConflict((conflict) => conflict.doNothing())
    .returning('expires_at')
    .executeTakeFirst()
  return row !== undefined
}

/** Deletes up to `count` assertions that would be refused for their age; returns how many. */
export async function deleteUsedAssertions(
  db: Db,
  { now, count }: { readonly now: Date; readonly count: number },
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from used_assertions where assertion_hash in (
      select assertion_hash from used_assertions where expires_at <= ${now} order by expires_at limit ${count}
    )`.execute(db)
  return Number(numAffectedRows)
}

export type TrustBundleRecord = Selectable<TrustBundleRow>

/** Locks the Domain, and serializes changes of its bundles; false when there is no such Domain. */
export async function lockDomain(db: Db, id: string): Promise<boolean> {
  const domain = await db.selectFrom('domains').select('id').where('id', '=', id).forNoKeyUpdate().executeTakeFirst()
  return domain !== undefined
}

export function listTrustBundles(db: Db, domainId: string): Promise<TrustBundleRecord[]> {
  return db.selectFrom('trust_bundles').selectAll().where('domain_id', '=', domainId).orderBy('trust_domain').execute()
}

/** Replaces the bundles of a Domain whose row is locked. */
export async function replaceTrustBundles(
  db: Db,
  domainId: string,
  bundles: readonly TrustBundleRecord[],
): Promise<void> {
  await db.deleteFrom('trust_bundles').where('domain_id', '=', domainId).execute()
  if (bundles.length === 0) return
  const rows = bundles.map((bundle) => ({ ...bundle, jwks: JSON.stringify(bundle.jwks) }))
  await db.insertInto('trust_bundles').values(rows).execute()
}

/** Bundles whose refresh is due, the longest due first. */
export function listDueBundles(
  db: Db,
  { now, count }: { readonly now: Date; readonly count: number },
): Promise<TrustBundleRecord[]> {
  return db
    .selectFrom('trust_bundles')
    .selectAll()
    .where('refresh_due_at', '<=', now)
    .orderBy('refresh_due_at')
    .limit(count)
    .execute()
}

/** The columns that a fetch of a bundle changes. */
export type Refreshed = Pick<TrustBundleRecord, 'jwks' | 'refresh_due_at' | 'refreshed_at' | 'refresh_failed_since'>

/** Writes a refresh, unless somebody has set the bundle since it was read. */
export async function writeRefreshed(db: Db, read: TrustBundleRecord, refreshed: Refreshed): Promise<void> {
  await db
    .updateTable('trust_bundles')
    .set({ ...refreshed, jwks: JSON.stringify(refreshed.jwks) })
    .where('domain_id', '=', read.domain_id)
    .where('trust_domain', '=', read.trust_domain)
    .where('bundle_url', '=', read.bundle_url)
    .where('updated_at', '=', read.updated_at)
    .execute()
}
