import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { ProviderPackage } from '../../../shared/catalogue/packages.ts'
import type { Pair } from './cloud-store.ts'

/** The configuration of a Cloud that a Project may use, and the credential that is lent to it. */
export interface StoredProviderConfig {
  readonly id: string
  readonly slug: string
  readonly provider: string
  readonly endpoint: Record<string, unknown>
  readonly region_defaults: Record<string, unknown>
  /** Of a Cloud without a bundle. */
  readonly provider_packages: ProviderPackage[] | null
  readonly provider_config_api_version: string | null
  /** Of a Cloud with a bundle: the pinned version and the overrides. */
  readonly bundle_packages: ProviderPackage[] | null
  readonly bundle_api_version: string | null
  readonly package_overrides: ProviderPackage[] | null
  readonly credential_id: string | null
  readonly secret_version: number | null
}

/** Reads it in one statement, so that packages and pin belong together; undefined where the Project may not use the Cloud. */
export async function readProviderConfig(
  db: Db,
  { projectId, cloudId }: Pair,
  now: Date,
): Promise<StoredProviderConfig | undefined> {
  const { rows } = await sql<StoredProviderConfig>`
    select cloud.id, cloud.slug, cloud.provider, cloud.endpoint, cloud.region_defaults,
      cloud.provider_packages, cloud.provider_config_api_version, cloud.package_overrides,
      bundle.provider_packages as bundle_packages, bundle.provider_config_api_version as bundle_api_version,
      lent.id as credential_id, lent.secret_version
    from cloud_assignments as assignment
    join clouds as cloud on cloud.id = assignment.cloud_id
    left join provider_bundle_versions as bundle
      on bundle.bundle_id = cloud.bundle_id and bundle.version = cloud.bundle_version
    left join lateral (
      select credential.id, credential.secret_version
      from credential_assignments as held
      join cloud_credentials as credential on credential.id = held.cloud_credential_id
      where held.project_id = assignment.project_id and held.state = 'approved'
        and credential.cloud_id = cloud.id and credential.state = 'active'
        and (credential.expires_at is null or credential.expires_at > ${now})
      order by credential.id desc limit 1
    ) as lent on true
    where assignment.project_id = ${projectId} and assignment.cloud_id = ${cloudId} and assignment.state = 'approved'
  `.execute(db)
  return rows[0]
}
