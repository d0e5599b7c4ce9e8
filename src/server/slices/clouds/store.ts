import { sql, type Selectable, type SelectQueryBuilder } from 'kysely'
import type { ProviderPackage } from '../../../shared/catalogue/packages.ts'
import type { ProviderName } from '../../../shared/catalogue/providers/index.ts'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import type { CloudRow } from '../../ports/tables/catalogue.ts'
import type { Tables } from '../../ports/tables/tables.ts'
import { updateIfAsRead } from '../../sql/compare-and-set.ts'
import { bySlug } from '../../sql/keyset.ts'
import { conflictsAs } from '../../sql/unique.ts'

export type CloudFields = Selectable<CloudRow>

/** A Cloud with what its pinned bundle version declares; the three last members are null where it has no bundle. */
export interface CloudRecord extends CloudFields {
  readonly bundle_slug: string | null
  readonly bundle_packages: ProviderPackage[] | null
  readonly bundle_config_api_version: string | null
}

/** What a patch writes; a member that is absent stays. Null: the Cloud has none in its mode. */
export type CloudChanges = Partial<Omit<CloudFields, 'id' | 'slug' | 'provider' | 'created_at'>>

/** The bundle reference of a Cloud as it was read. */
export type Reference = Pick<CloudFields, 'bundle_id' | 'bundle_version'>

const JSON_COLUMNS = ['endpoint', 'region_defaults', 'provider_packages', 'package_overrides'] as const

/**
 * Inserts a Cloud. The caller holds its bundle.
 * @throws Problem `slug_conflict` where another Cloud has the slug.
 */
export async function insertCloud(db: Db, cloud: CloudFields): Promise<void> {
  const write = db
    .insertInto('clouds')
    .values({
      ...cloud,
      endpoint: JSON.stringify(cloud.endpoint),
      region_defaults: JSON.stringify(cloud.region_defaults),
      provider_packages: textOrNull(cloud.provider_packages),
      package_overrides: textOrNull(cloud.package_overrides),
    })
    .execute()
  await conflictsAs(write, { clouds_slug_key: 'slug_conflict' })
}

function textOrNull(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value)
}

export function findCloud(db: Db, id: string): Promise<CloudRecord | undefined> {
  return resolved(db, db.selectFrom('clouds').selectAll().where('id', '=', id)).executeTakeFirst()
}

/** Reads the Clouds by slug, each with its bundle version: one statement for a whole page. */
export function listClouds(db: Db, range: PageRange): Promise<CloudRecord[]> {
  const page = bySlug.page(db.selectFrom('clouds').selectAll(), range)
  return bySlug.sorted(resolved(db, page)).execute()
}

/** Joins the pinned version and the name of its bundle to Clouds. */
function resolved(db: Db, clouds: SelectQueryBuilder<Tables, 'clouds', CloudFields>) {
  return db
    .selectFrom(clouds.as('cloud'))
    .leftJoin('provider_bundles as bundle', 'bundle.id', 'cloud.bundle_id')
    .leftJoin('provider_bundle_versions as pinned', (join) =>
      join.onRef('pinned.bundle_id', '=', 'cloud.bundle_id').onRef('pinned.version', '=', 'cloud.bundle_version'),
    )
    .selectAll('cloud')
    .select([
      'bundle.slug as bundle_slug',
      'pinned.provider_packages as bundle_packages',
      'pinned.provider_config_api_version as bundle_config_api_version',
    ])
}

/** A bundle that a Cloud is to reference. */
export interface HeldBundle {
  readonly provider: ProviderName
  readonly latest_version: number
}

/** Keeps a bundle from being deleted until the transaction ends; undefined when there is none. */
export async function holdBundle(tx: Db, id: string): Promise<HeldBundle | undefined> {
  return tx
    .selectFrom('provider_bundles')
    .select(['provider', 'latest_version'])
    .where('id', '=', id)
    .forKeyShare()
    .executeTakeFirst()
}

/**
 * Changes a Cloud. Where the reference that was read is given, it must still be that.
 * @throws Problem `provider_bundle_reference_moved` or `cloud_not_found`; nothing is changed then.
 */
export async function updateCloud(
  db: Db,
  { id, asRead }: { readonly id: string; readonly asRead: Reference | undefined },
  changes: CloudChanges,
): Promise<void> {
  const codes = { stale: 'provider_bundle_reference_moved', gone: 'cloud_not_found' } as const
  await updateIfAsRead(db, 'clouds', { id, asRead: asRead ?? {}, set: asColumns(changes), ...codes })
}

/** JSON columns are written as text. */
function asColumns({ endpoint, region_defaults, provider_packages, package_overrides, ...plain }: CloudChanges) {
  const json = { endpoint, region_defaults, provider_packages, package_overrides }
  const named = JSON_COLUMNS.filter((column) => json[column] !== undefined)
  return { ...plain, ...Object.fromEntries(named.map((column) => [column, textOrNull(json[column])])) }
}

/** Locks the Cloud, so that no credential is added to it; undefined when it does not exist. */
export async function lockCloud(db: Db, id: string): Promise<CloudFields | undefined> {
  return db.selectFrom('clouds').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

export async function countCredentials(db: Db, cloudId: string): Promise<number> {
  const { credentials } = await db
    .selectFrom('cloud_credentials')
    .select(sql<number>`count(*)::int`.as('credentials'))
    .where('cloud_id', '=', cloudId)
    .executeTakeFirstOrThrow()
  return credentials
}

/** Deletes the Cloud; its assignments to Projects go with it by their foreign key. */
export async function deleteCloud(db: Db, id: string): Promise<void> {
  await db.deleteFrom('clouds').where('id', '=', id).execute()
}
