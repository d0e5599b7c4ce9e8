import { mergedPackages, withOrigin, type EffectivePackage } from '../../../shared/catalogue/packages.ts'
import type { clouds } from '../../../shared/contract/clouds.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import type { CloudRecord } from './store.ts'

type CloudAnswer = Result<(typeof clouds)['operations']['GetCloud']>

/** The packages that a Cloud has in effect: its own, or those of its pinned version with its overrides over them. */
export function effectivePackages(cloud: CloudRecord): EffectivePackage[] {
  if (cloud.bundle_id === null) return withOrigin(cloud.provider_packages ?? [], 'cloud')
  return mergedPackages(cloud.bundle_packages ?? [], cloud.package_overrides ?? [])
}

/** The Cloud as the API shows it. */
export function toAnswer(cloud: CloudRecord): CloudAnswer {
  return {
    id: cloud.id,
    slug: cloud.slug,
    display_name: cloud.display_name,
    provider: cloud.provider,
    endpoint: cloud.endpoint,
    region_defaults: cloud.region_defaults,
    external_id: cloud.external_id,
    provider_packages: effectivePackages(cloud),
    provider_config_api_version: cloud.provider_config_api_version ?? cloud.bundle_config_api_version ?? '',
    ...referenceOf(cloud),
    created_at: cloud.created_at.toISOString(),
    updated_at: cloud.updated_at.toISOString(),
  }
}

/** The bundle reference; no member where the Cloud has packages of its own. */
function referenceOf({ bundle_id: id, bundle_slug: slug, bundle_version: version }: CloudRecord): Partial<CloudAnswer> {
  if (id === null || slug === null || version === null) return {}
  return { provider_bundle_id: id, provider_bundle_slug: slug, provider_bundle_version: version }
}
