import type { Hints } from './hints.ts'

/** What to do next about refusals of Clouds and provider bundles, by code. */
export const CATALOGUE_HINTS: Readonly<Record<string, Hints>> = {
  invalid_cloud_provider_mode: () => [
    'Give --bundle BUNDLE, or --package SOURCE@VERSION with --config-api-version VERSION.',
  ],
  unknown_provider_bundle: () => ['See which there are: ctl bundles list'],
  provider_bundle_provider_mismatch: () => ['See the providers of bundles: ctl bundles list'],
  provider_bundle_version_not_found: () => ['See what is published: ctl bundles versions BUNDLE'],
  provider_bundle_reference_moved: () => ['See what the Cloud is now, then try again: ctl clouds show CLOUD'],
  provider_bundle_stale: () => ['See what the bundle is now, then try again: ctl bundles show BUNDLE'],
  provider_bundle_referenced: ({ problem: { document } }) => [
    ...(typeof document['referencing_clouds'] === 'number' ? [`  clouds: ${document['referencing_clouds']}`] : []),
    'Give them another bundle first; see them: ctl bundles clouds BUNDLE',
  ],
}
