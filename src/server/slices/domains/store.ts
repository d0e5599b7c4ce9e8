import { sql, type Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import { bySlug } from '../../sql/keyset.ts'
import { conflictsAs } from '../../sql/unique.ts'
import type { DomainRow } from '../../ports/tables/tenancy.ts'

export type DomainRecord = Selectable<DomainRow>

/** A Domain with the numbers that its readers see. */
export interface DomainUsage {
  readonly id: string
  readonly slug: string
  readonly nodes: number
  readonly projects: number
  readonly api_tokens: number
}

const settings = (domain: DomainRecord) => ({
  display_name: domain.display_name,
  endpoint_ttl_seconds: domain.endpoint_ttl_seconds,
  audit_retention_days: domain.audit_retention_days,
  trusted_networks: JSON.stringify(domain.trusted_networks),
  business_hours: JSON.stringify(domain.business_hours),
  strong_acr: JSON.stringify(domain.strong_acr),
  peer_visibility: domain.peer_visibility,
  routed_networks: JSON.stringify(domain.routed_networks),
  step_up: JSON.stringify(domain.step_up),
  updated_at: domain.updated_at,
})

/** @throws Problem `slug_conflict` */
export async function insertDomain(db: Db, domain: DomainRecord): Promise<void> {
  const { id, slug, mesh_cidr, created_at } = domain
  const row = { id, slug, mesh_cidr, created_at, ...settings(domain) }
  await conflictsAs(db.insertInto('domains').values(row).execute(), { domains_slug_key: 'slug_conflict' })
}

export function findDomain(db: Db, id: string): Promise<DomainRecord | undefined> {
  return db.selectFrom('domains').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Reads Domains by slug. */
export function listDomains(db: Db, range: PageRange): Promise<DomainRecord[]> {
  return bySlug.page(db.selectFrom('domains').selectAll(), range).execute()
}

/** Locks the Domain against other changes of its row; inserts of its children are not blocked. */
export function lockForUpdate(db: Db, id: string): Promise<DomainRecord | undefined> {
  return db.selectFrom('domains').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst()
}

/**
 * Locks the Domain against the creation of objects in it: such inserts take `FOR KEY SHARE` on its row through
 * their foreign key. An earlier insert has committed when this returns, and the next statement sees it.
 */
export function lockForDelete(db: Db, id: string): Promise<DomainRecord | undefined> {
  return db.selectFrom('domains').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

export async function updateDomain(db: Db, domain: DomainRecord): Promise<void> {
  await db.updateTable('domains').set(settings(domain)).where('id', '=', domain.id).execute()
}

/** Counts nodes, Projects and live API tokens of the Domain at one moment; undefined when there is no such Domain. */
export async function findUsage(db: Db, id: string, now: Date): Promise<DomainUsage | undefined> {
  const usage = await sql<DomainUsage>`
    select domains.id, domains.slug,
      (select count(*)::int from nodes where domain_id = domains.id) as nodes,
      (select count(*)::int from projects where domain_id = domains.id) as projects,
      (select count(*)::int from api_tokens
        where domain_id = domains.id and not hidden and revoked_at is null and expires_at > ${now}) as api_tokens
    from domains where domains.id = ${id}
  `.execute(db)
  return usage.rows[0]
}

/**
 * Deletes the Domain. Foreign keys delete with it: used join tokens, resting mesh addresses, invitations that are
 * used or expired, and unfinished sign-ins of browsers and devices.
 */
export async function deleteDomain(db: Db, id: string): Promise<void> {
  await db.deleteFrom('domains').where('id', '=', id).execute()
}
