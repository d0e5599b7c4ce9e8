import { bySource, mergedPackages, type ProviderPackage } from '../../../shared/catalogue/packages.ts'
import type { cloudAssignments } from '../../../shared/contract/cloud-assignments.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import type { StoredProviderConfig } from './provider-config-store.ts'

type Answer = Result<(typeof cloudAssignments)['operations']['GetProviderConfig']>

/** The effective configuration: of a Cloud with a bundle, its pinned version with the overrides merged over it. */
export function configOf(stored: StoredProviderConfig): Answer {
  const { credential_id: credentialId, secret_version: secretVersion } = stored
  return {
    cloud_id: stored.id,
    slug: stored.slug,
    provider: stored.provider,
    provider_config_api_version: stored.bundle_api_version ?? stored.provider_config_api_version ?? '',
    provider_packages: packagesOf(stored).map(({ source, version }) => ({ source, version })),
    endpoint: stored.endpoint,
    region_defaults: stored.region_defaults,
    credential:
      credentialId === null || secretVersion === null
        ? null
        : { cloud_credential_id: credentialId, secret_version: secretVersion },
  }
}

function packagesOf(stored: StoredProviderConfig): readonly ProviderPackage[] {
  const { bundle_packages: ofBundle, package_overrides: overrides, provider_packages: own } = stored
  return ofBundle === null ? bySource(own ?? []) : mergedPackages(ofBundle, overrides ?? [])
}
