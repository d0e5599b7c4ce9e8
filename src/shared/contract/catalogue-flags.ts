import type { FlagWords } from './cli-words.ts'

type Flags = { readonly [member: string]: FlagWords }

/** How the provider configuration of a bundle is typed on the command line. */
export const BUNDLE_FLAGS = {
  provider_packages: { name: 'package', form: 'packages' },
  provider_config_api_version: { name: 'config-api-version' },
} as const satisfies Flags

/** How that of a Cloud is typed: its own, or a bundle with overrides. */
export const CLOUD_FLAGS = {
  ...BUNDLE_FLAGS,
  provider_package_overrides: { name: 'override', form: 'packages' },
  provider_bundle_id: { name: 'bundle' },
  provider_bundle_version: { name: 'bundle-version' },
  endpoint: { form: 'pairs' },
  region_defaults: { name: 'region-default', form: 'pairs' },
} as const satisfies Flags
