import { sql, type Selectable } from 'kysely'
import type { ProviderPackage } from '../../../shared/catalogue/packages.ts'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import type { ProviderBundleRow, ProviderBundleVersionRow } from '../../ports/tables/catalogue.ts'
import { updateIfVersion } from '../../sql/compare-and-set.ts'
import { byId, bySlug, byVersionDescending } from '../../sql/keyset.ts'
import { conflictsAs } from '../../sql/unique.ts'

type BundleFields = Selectable<ProviderBundleRow>

/** The content of a version. */
export interface BundleContent {
  readonly provider_packages: ProviderPackage[]
  readonly provider_config_api_version: string
}

/** A bundle with the content of its latest version. */
export interface BundleRecord extends BundleFields, BundleContent {}

export type VersionRecord = Selectable<ProviderBundleVersionRow>

/** A Cloud that references a bundle. */
export interface RosterRecord {
  readonly id: string
  readonly slug: string
  readonly display_name: string
  readonly provider_bundle_version: number
}

/**
 * Inserts a bundle without a version.
 * @throws Problem `slug_conflict` where another bundle has the slug.
 */
export async function insertBundle(db: Db, bundle: BundleFields): Promise<void> {
  const write = db.insertInto('provider_bundles').values(bundle).execute()
  await conflictsAs(write, { provider_bundles_slug_key: 'slug_conflict' })
}

export async function insertVersion(db: Db, { provider_packages, ...version }: VersionRecord): Promise<void> {
  await db
    .insertInto('provider_bundle_versions')
    .values({ ...version, provider_packages: JSON.stringify(provider_packages) })
    .execute()
}

/** Keeps the bundle from being deleted until the transaction ends; false when there is none. */
export async function holdBundle(tx: Db, id: string): Promise<boolean> {
  const held = await tx
    .selectFrom('provider_bundles')
    .select('id')
    .where('id', '=', id)
    .forKeyShare()
    .executeTakeFirst()
  return held !== undefined
}

export function findBundle(db: Db, id: string): Promise<BundleRecord | undefined> {
  const bundles = db.selectFrom('provider_bundles').selectAll().where('id', '=', id)
  return db
    .selectFrom(bundles.as('bundle'))
    .innerJoin('provider_bundle_versions as latest', (join) =>
      join.onRef('latest.bundle_id', '=', 'bundle.id').onRef('latest.version', '=', 'bundle.latest_version'),
    )
    .selectAll('bundle')
    .select(['latest.provider_packages', 'latest.provider_config_api_version'])
    .executeTakeFirst()
}

/** Reads the bundles by slug. */
export function listBundles(db: Db, range: PageRange): Promise<BundleRecord[]> {
  const page = bySlug.page(db.selectFrom('provider_bundles').selectAll(), range)
  const bundles = db
    .selectFrom(page.as('bundle'))
    .innerJoin('provider_bundle_versions as latest', (join) =>
      join.onRef('latest.bundle_id', '=', 'bundle.id').onRef('latest.version', '=', 'bundle.latest_version'),
    )
    .selectAll('bundle')
    .select(['latest.provider_packages', 'latest.provider_config_api_version'])
  return bySlug.sorted(bundles).execute()
}

/**
 * Changes a bundle that nobody changed since it was read.
 * @throws Problem `provider_bundle_stale` or `provider_bundle_not_found`; nothing is changed then.
 */
export async function updateBundle(
  db: Db,
  { id, row_version: version }: Pick<BundleFields, 'id' | 'row_version'>,
  { display_name, latest_version, updated_at }: Pick<BundleFields, 'display_name' | 'latest_version' | 'updated_at'>,
): Promise<void> {
  const set = { display_name, latest_version, updated_at }
  const codes = { stale: 'provider_bundle_stale', gone: 'provider_bundle_not_found' } as const
  await updateIfVersion(db, 'provider_bundles', { id, version, set, ...codes })
}

/** Locks the bundle, so that no Cloud comes to reference it; undefined when it does not exist. */
export async function lockBundle(db: Db, id: string): Promise<BundleFields | undefined> {
  return db.selectFrom('provider_bundles').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

export async function countReferences(db: Db, bundleId: string): Promise<number> {
  const { clouds } = await db
    .selectFrom('clouds')
    .select(sql<number>`count(*)::int`.as('clouds'))
    .where('bundle_id', '=', bundleId)
    .executeTakeFirstOrThrow()
  return clouds
}

/** Deletes the bundle; its versions go with it by their foreign key. */
export async function deleteBundle(db: Db, id: string): Promise<void> {
  await db.deleteFrom('provider_bundles').where('id', '=', id).execute()
}

export async function existsBundle(db: Db, id: string): Promise<boolean> {
  const found = await db.selectFrom('provider_bundles').select('id').where('id', '=', id).executeTakeFirst()
  return found !== undefined
}

/** Reads the versions of a bundle, newest first. */
export function listVersions(db: Db, bundleId: string, range: PageRange): Promise<VersionRecord[]> {
  const versions = db.selectFrom('provider_bundle_versions').selectAll().where('bundle_id', '=', bundleId)
  return byVersionDescending.page(versions, range).execute()
}

/** Reads the Clouds that reference a bundle, by id. */
export function listReferences(db: Db, bundleId: string, range: PageRange): Promise<RosterRecord[]> {
  const clouds = db
    .selectFrom('clouds')
    .select(['id', 'slug', 'display_name'])
    .select((row) => row.ref('bundle_version').$notNull().as('provider_bundle_version'))
    .where('bundle_id', '=', bundleId)
  return byId.page(clouds, range).execute()
}
