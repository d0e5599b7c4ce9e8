import { invalid, invalidFields, row } from './row.ts'

/** Problems of Clouds and provider bundles (S1 Errors). */
export const CATALOGUE_PROBLEMS = {
  invalid_cloud_id: invalid('Invalid Cloud id', 'The Cloud id must be a UUID other than zero.'),
  cloud_not_found: row(404, 'Cloud not found', 'No such Cloud exists.'),
  invalid_cloud: invalidFields(
    'Invalid Cloud',
    'A member of the Cloud is missing or malformed, or its provider does not allow it; the fields name the members.',
  ),
  invalid_cloud_provider_mode: invalidFields(
    'Invalid provider mode',
    'A Cloud has either provider packages of its own, with their API version, or a provider bundle; the fields name the members at fault.',
  ),
  unknown_provider_bundle: invalid('Unknown provider bundle', 'No provider bundle has this id.'),
  provider_bundle_provider_mismatch: invalid(
    'Bundle of another provider',
    'The provider bundle is for another provider than the Cloud.',
  ),
  provider_bundle_version_not_found: invalid(
    'Unknown bundle version',
    'The provider bundle has never published this version.',
  ),
  cloud_not_empty: row<{ readonly counts: { readonly cloud_credentials: number } }>(
    409,
    'Cloud not empty',
    'The Cloud still has credentials; the counts say how many.',
  ),
  provider_bundle_reference_moved: row(
    409,
    'Bundle reference moved',
    'Somebody else changed the provider configuration of the Cloud in the meantime. Nothing was changed.',
  ),
  clouds_not_provisioned: row(501, 'Not provisioned', 'Clouds are not configured on this server.'),
  invalid_provider_bundle_id: invalid(
    'Invalid provider bundle id',
    'The provider bundle id must be a UUID other than zero.',
  ),
  invalid_provider_bundle: invalidFields(
    'Invalid provider bundle',
    'A member of the provider bundle is missing or malformed; the fields name the members.',
  ),
  provider_bundle_not_found: row(404, 'Provider bundle not found', 'No such provider bundle exists.'),
  provider_bundle_referenced: row<{ readonly referencing_clouds: number }>(
    409,
    'Provider bundle in use',
    'Clouds still reference the provider bundle; the problem says how many.',
  ),
  provider_bundle_stale: row(
    409,
    'Provider bundle changed',
    'Somebody else changed the provider bundle in the meantime. Nothing was changed.',
  ),
  provider_bundles_not_provisioned: row(501, 'Not provisioned', 'Provider bundles are not configured on this server.'),
  slug_immutable: invalid('Slug cannot change', 'The slug is chosen once, at creation.'),
  provider_immutable: invalid('Provider cannot change', 'The provider is chosen once, at creation.'),
} as const
