import type { Hints } from './hints.ts'

/** What to do next about refusals of Clouds, bundles, credentials and what is lent, by code. */
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
  cloud_not_empty: () => ['Delete its credentials first; see them: ctl cloud-credentials list --cloud CLOUD'],
  cloud_credential_in_use: () => ['Revoking it ends what it is lent for: ctl cloud-credentials revoke CREDENTIAL'],
  cloud_assignment_in_use: () => ['Add --cascade to revoke what is lent of its credentials too.'],
  cloud_not_usable_in_project: () => [USE_FIRST],
  provider_config_not_found: () => [USE_FIRST],
  credential_not_assignable: () => [CREDENTIALS],
  no_eligible_credential_for_cloud: () => [CREDENTIALS],
  duplicate_live_assignment: ({ words }) => [`See it: ctl ${words.split(' ')[0] ?? ''} list`],
  secret_in_use: () => [
    'See what uses it: ctl secrets show NAME',
    'Of a bridge, ctl bridge show says which part: update it with another secret first.',
  ],
}

const USE_FIRST = 'Request the Cloud first, and have it approved: ctl cloud-assignments request --cloud CLOUD'
const CREDENTIALS = 'See the credentials and their states: ctl cloud-credentials list --cloud CLOUD'
