import { PACKAGES_MAX } from '../../../shared/catalogue/packages.ts'
import type { ProviderName } from '../../../shared/catalogue/providers/index.ts'
import { problem } from '../../../shared/problems.ts'
import type { Db } from '../../ports/datastore.ts'
import { effectivePackages } from './cloud.ts'
import type { ConfigurationChange, InlineChange, ReferenceChange, SentConfiguration } from './configuration.ts'
import * as store from './store.ts'

/** Columns of a Cloud that has packages of its own. */
const NO_BUNDLE = { bundle_id: null, bundle_version: null, package_overrides: null } as const
/** Columns of a Cloud that has a bundle. */
const NO_PACKAGES = { provider_packages: null, provider_config_api_version: null } as const

/** Versions are positive and fit into their column. */
const VERSION_MAX = 2_147_483_647

/**
 * The columns that a change writes. A bundle that it names is held, so that it cannot be deleted before the Cloud is
 * written.
 * @throws Problem `unknown_provider_bundle`, `provider_bundle_provider_mismatch` or `provider_bundle_version_not_found`.
 */
export async function columnsOf(
  tx: Db,
  provider: ProviderName,
  change: ConfigurationChange,
): Promise<store.CloudChanges> {
  if (change.kind === 'reference') return referenceColumns(tx, provider, change)
  if (change.kind === 'overrides') return { package_overrides: change.overrides }
  return change.kind === 'inline' ? inlineColumns(change) : {}
}

/** A member that a patch does not name keeps its value: the other half of the pair. */
function inlineColumns({ packages, apiVersion }: InlineChange): store.CloudChanges {
  return {
    ...NO_BUNDLE,
    ...(packages !== undefined && { provider_packages: packages }),
    ...(apiVersion !== undefined && { provider_config_api_version: apiVersion }),
  }
}

async function referenceColumns(tx: Db, provider: ProviderName, change: ReferenceChange): Promise<store.CloudChanges> {
  const { bundleId, version, overrides } = change
  const bundle = await store.holdBundle(tx, bundleId)
  if (bundle === undefined) throw problem('unknown_provider_bundle')
  if (bundle.provider !== provider) throw problem('provider_bundle_provider_mismatch')
  const pinned = version ?? bundle.latest_version
  // Versions are published in order and never withdrawn: every one up to the latest exists.
  if (pinned < 1 || pinned > Math.min(bundle.latest_version, VERSION_MAX)) {
    throw problem('provider_bundle_version_not_found')
  }
  return {
    ...NO_PACKAGES,
    bundle_id: bundleId,
    bundle_version: pinned,
    ...(overrides !== undefined && { package_overrides: overrides }),
  }
}

/**
 * Bounds the effective set of a Cloud as it was just written: a promotion and other overrides may each be within the bound,
 * and exceed it together.
 * @throws Problem `invalid_cloud` that names the members which the body changed it by.
 */
export function assertWithinBounds(cloud: store.CloudRecord, body: SentConfiguration): void {
  const size = effectivePackages(cloud).length
  if (size <= PACKAGES_MAX) return
  const members = ['provider_package_overrides', 'provider_bundle_version', 'provider_bundle_id'] as const
  const fields = members.filter((member) => body[member] !== undefined)
  const detail = `must leave at most ${PACKAGES_MAX} packages in effect, not ${size}`
  throw problem('invalid_cloud', { errors: fields.map((member) => ({ pointer: `/${member}`, detail })), fields })
}
