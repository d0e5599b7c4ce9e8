import type { providerBundles } from '../../../shared/contract/provider-bundles.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import type { BundleRecord, RosterRecord, VersionRecord } from './store.ts'

type Operations = (typeof providerBundles)['operations']
type BundleAnswer = Result<Operations['GetProviderBundle']>
type VersionAnswer = Result<Operations['ListProviderBundleVersions']>['items'][number]
type RosterAnswer = Result<Operations['ListProviderBundleClouds']>['items'][number]

/** The bundle as the API shows it, with the packages of its latest version. */
export function toAnswer(bundle: BundleRecord): BundleAnswer {
  return {
    id: bundle.id,
    slug: bundle.slug,
    display_name: bundle.display_name,
    provider: bundle.provider,
    provider_packages: bundle.provider_packages,
    provider_config_api_version: bundle.provider_config_api_version,
    latest_version: bundle.latest_version,
    created_at: bundle.created_at.toISOString(),
    updated_at: bundle.updated_at.toISOString(),
  }
}

/** A frozen version as the API shows it. */
export function toVersion(version: VersionRecord): VersionAnswer {
  return {
    version: version.version,
    provider_packages: version.provider_packages,
    provider_config_api_version: version.provider_config_api_version,
    created_by: version.created_by,
    created_at: version.created_at.toISOString(),
  }
}

/** A Cloud that references the bundle, with the version that it is pinned to. */
export function toRosterEntry({ id, slug, display_name, provider_bundle_version }: RosterRecord): RosterAnswer {
  return { cloud_id: id, slug, display_name, provider_bundle_version }
}
