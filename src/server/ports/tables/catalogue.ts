import type { Generated } from 'kysely'
import type { ProviderPackage } from '../../../shared/catalogue/packages.ts'
import type { ProviderName } from '../../../shared/catalogue/providers/index.ts'
import type { Json } from './json.ts'

/** Tables of Clouds, provider bundles and credentials of Clouds. */
export interface CatalogueTables {
  provider_bundles: ProviderBundleRow
  provider_bundle_versions: ProviderBundleVersionRow
  clouds: CloudRow
  cloud_credentials: CloudCredentialRow
}

export interface ProviderBundleRow {
  id: string
  slug: string
  display_name: string
  provider: ProviderName
  latest_version: number
  /** Counts the changes of the row, for optimistic concurrency. */
  row_version: Generated<number>
  created_at: Date
  updated_at: Date
}

export interface ProviderBundleVersionRow {
  bundle_id: string
  version: number
  /** 1 to 16, by source. */
  provider_packages: Json<ProviderPackage[]>
  provider_config_api_version: string
  /** A subject. */
  created_by: string
  created_at: Date
}

/** A Cloud has its own packages and API version, or a bundle with a pinned version and overrides. */
export interface CloudRow {
  id: string
  slug: string
  display_name: string
  provider: ProviderName
  endpoint: Json<Record<string, unknown>>
  region_defaults: Json<Record<string, unknown>>
  external_id: string
  provider_packages: Json<ProviderPackage[]> | null
  provider_config_api_version: string | null
  bundle_id: string | null
  bundle_version: number | null
  package_overrides: Json<ProviderPackage[]> | null
  created_at: Date
  updated_at: Date
}

/** Its secret is in the secret store. An active or suspended credential past `expires_at` is expired. */
export interface CloudCredentialRow {
  id: string
  cloud_id: string
  display_name: string
  state: 'active' | 'suspended' | 'revoked'
  expires_at: Date | null
  /** The version of its secret that is in use. */
  secret_version: number
  /** When the secret was replaced; null where it is the first one. */
  rotated_at: Generated<Date | null>
  /** The subject that revoked it; null unless it is revoked. */
  revoked_by: Generated<string | null>
  revoked_reason: Generated<string | null>
  created_at: Date
  updated_at: Date
}
