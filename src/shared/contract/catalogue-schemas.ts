import { z } from 'zod'
import { bySource, hasDistinctSources, PACKAGES_MAX, type ProviderPackage } from '../catalogue/packages.ts'
import { PROVIDER_NAMES } from '../catalogue/providers/index.ts'
import { holdsSecretName } from '../catalogue/secret-names.ts'
import { isNonZeroUuid } from '../ids.ts'
import type { InvalidCode } from '../problems.ts'
import { withRule } from './body-rules.ts'
import { createModeFault, patchModeFault } from './cloud-modes.ts'
import { CreatedAt, DisplayName, OwnId, ShownName, ShownSlug, Slug, UpdatedAt, Uuid } from './fields.ts'
import { late } from './late.ts'
import { immutable } from './patch.ts'

const CloudProvider = z.enum(PROVIDER_NAMES).describe('Cloud platform')

const Source = z
  .string()
  .max(255)
  .regex(
    /^(?:oci:\/\/)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{1,5})?(?:\/[a-z0-9]+(?:[._-]{1,8}[a-z0-9]+)*)+$/,
    {
      error: 'must be an OCI repository such as oci://registry.example/provider-aws, without tag or digest',
    },
  )
  .describe('OCI repository, without tag or digest')

const PackageVersion = z
  .string()
  .regex(/^(?:[A-Za-z0-9_][A-Za-z0-9_.+-]{0,127}|sha256:[0-9a-f]{64})$/, {
    error: 'must be a tag of at most 128 characters, or a sha256 digest',
  })
  .describe('Tag or sha256 digest')

const AuthoredPackage = z.strictObject({ source: Source, version: PackageVersion }).meta({
  id: 'CloudProviderPackage',
  description: 'A provider package: an OCI artifact that knows one cloud platform.',
})

const ShownPackage = z
  .object({
    source: z.string().describe('OCI repository of the package'),
    version: z.string().describe('Tag or sha256 digest of the package'),
    origin: z
      .enum(['cloud', 'bundle', 'override'])
      .optional()
      .meta({ readOnly: true })
      .describe('Where a package of a Cloud comes from; only in the effective set of a Cloud'),
  })
  .meta({
    id: 'CloudProviderPackage',
    description: 'A provider package: an OCI artifact that knows one cloud platform.',
  })

/** A set of packages, source-ascending; `least` is its smallest size. */
function packageSet(least: 0 | 1): z.ZodType<ProviderPackage[], { source: string; version: string }[]> {
  return z
    .array(AuthoredPackage)
    .min(least)
    .max(PACKAGES_MAX)
    .refine(hasDistinctSources, { error: 'must name each source once' })
    .transform((packages) => bySource(packages))
}

const ConfigApiVersion = z
  .string()
  .max(253)
  .regex(/^(?:[a-z0-9](?:[a-z0-9.-]{0,200}[a-z0-9])?\/)?v[1-9]\d{0,3}(?:(?:alpha|beta)[1-9]\d{0,3})?$/, {
    error: 'must be an API version such as v1beta1 or aws.example.org/v1',
  })
  .describe('API version of the rendered provider configuration, such as v1beta1')

const Settings = z
  .record(z.string(), z.unknown())
  .refine((settings) => !holdsSecretName(settings), { error: 'must not have a member that is named like a secret' })

/** Members that Clouds and bundles share; a wrong one is answered with the code. */
function membersOf(code: InvalidCode) {
  return {
    display_name: DisplayName.meta({ problem: code }),
    slug: Slug.meta({ problem: code }),
    provider: CloudProvider.meta({ problem: code }),
    provider_packages: packageSet(1).meta({
      problem: code,
      description: 'The whole set: 1 to 16 packages, each source once',
    }),
    provider_config_api_version: ConfigApiVersion.meta({ problem: code }),
  }
}

const ofBundle = membersOf('invalid_provider_bundle')
const ofCloud = membersOf('invalid_cloud')

export const ProviderBundleCreateRequest = z
  .strictObject({
    slug: ofBundle.slug,
    display_name: ofBundle.display_name,
    provider: ofBundle.provider,
    provider_packages: ofBundle.provider_packages,
    provider_config_api_version: ofBundle.provider_config_api_version,
  })
  .meta({ id: 'ProviderBundleCreateRequest', description: 'A new provider bundle.' })

export const ProviderBundlePatchRequest = z
  .strictObject({
    slug: immutable('slug_immutable'),
    provider: immutable('provider_immutable'),
    display_name: ofBundle.display_name.optional(),
    provider_packages: ofBundle.provider_packages.optional(),
    provider_config_api_version: ofBundle.provider_config_api_version.optional(),
  })
  .meta({
    id: 'ProviderBundlePatchRequest',
    description: 'Members of a provider bundle to change; packages make a new version.',
  })

/** Not declared as a UUID: a malformed id is a fault of the mode (S1 Cloud). */
const BundleReference = z
  .string()
  .refine(isNonZeroUuid, { error: 'must be a UUID other than zero' })
  .transform((id) => id.toLowerCase())
  .meta({
    problem: 'invalid_cloud_provider_mode',
    decides: true,
    description: 'Provider bundle that the Cloud takes its packages from',
  })

const configuration = {
  endpoint: Settings.meta({
    problem: 'invalid_cloud',
    description: 'Where and what the Cloud is, as its provider requires; no secrets',
  }),
  region_defaults: Settings.optional().meta({
    problem: 'invalid_cloud',
    description: 'Region and zone where a resource names none',
  }),
  provider_bundle_id: BundleReference.optional(),
  provider_bundle_version: z.int().optional().meta({
    problem: 'invalid_cloud',
    description: 'Published version of the bundle; by default the latest one',
  }),
  provider_packages: ofCloud.provider_packages.optional(),
  provider_config_api_version: ofCloud.provider_config_api_version.optional(),
  provider_package_overrides: packageSet(0).optional().meta({
    problem: 'invalid_cloud',
    description: 'Packages that replace or complement those of the bundle; an empty list clears them',
  }),
}

export const CloudCreateRequest = withRule(
  z.strictObject({
    slug: ofCloud.slug,
    display_name: ofCloud.display_name,
    provider: ofCloud.provider,
    ...configuration,
  }),
  createModeFault,
).meta({
  id: 'CloudCreateRequest',
  description: 'A new Cloud, with packages of its own or those of a provider bundle.',
})

/** What the mode of the stored Cloud forbids is refused before shapes are (decisions: Catalogue, PATCH order). */
export const CloudPatchRequest = withRule(
  z.strictObject({
    slug: immutable('slug_immutable'),
    provider: immutable('provider_immutable'),
    display_name: late(ofCloud.display_name).optional(),
    endpoint: late(configuration.endpoint).optional(),
    region_defaults: late(configuration.region_defaults).optional(),
    provider_bundle_id: configuration.provider_bundle_id,
    provider_bundle_version: late(configuration.provider_bundle_version).optional(),
    provider_packages: late(configuration.provider_packages).optional(),
    provider_config_api_version: late(configuration.provider_config_api_version).optional(),
    provider_package_overrides: late(configuration.provider_package_overrides).optional(),
  }),
  patchModeFault,
).meta({ id: 'CloudPatchRequest', description: 'Members of a Cloud to change.' })

export const Cloud = z
  .object({
    id: OwnId,
    slug: ShownSlug,
    display_name: ShownName,
    provider: CloudProvider,
    endpoint: z.record(z.string(), z.unknown()).describe('How the cloud platform is reached'),
    region_defaults: z.record(z.string(), z.unknown()).describe('Region settings of the Cloud'),
    external_id: z.string().describe('Account, subscription or project that the endpoint names; not unique'),
    provider_packages: z.array(ShownPackage).describe('Effective packages, by source'),
    provider_config_api_version: z.string().describe('API version of the rendered provider configuration'),
    provider_bundle_id: Uuid.optional().describe('Absent where the Cloud has packages of its own'),
    provider_bundle_slug: z.string().optional().describe('Slug of that bundle'),
    provider_bundle_version: z.int().optional().describe('Pinned version: only a patch of the Cloud moves it'),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'CloudResponse', description: 'An account at a cloud platform, with the packages that provision on it.' })

export const ProviderBundle = z
  .object({
    id: OwnId,
    slug: ShownSlug,
    display_name: ShownName,
    provider: CloudProvider,
    provider_packages: z.array(ShownPackage).describe('Packages of the latest version, by source'),
    provider_config_api_version: z.string().describe('API version of the rendered provider configuration'),
    latest_version: z.int().describe('Number of the latest version'),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({
    id: 'ProviderBundleResponse',
    description: 'A set of provider packages that Clouds share, with its latest version.',
  })

export const ProviderBundleVersion = z
  .object({
    version: z.int().describe('Number of the version: 1, 2, 3 …'),
    provider_packages: z.array(ShownPackage).describe('Packages of the version, by source'),
    provider_config_api_version: z.string().describe('API version of the rendered provider configuration'),
    created_by: z.string().describe('Subject that published the version; empty where that is not known'),
    created_at: CreatedAt,
  })
  .meta({ id: 'ProviderBundleVersion', description: 'A version of a provider bundle; it never changes.' })

export const ProviderBundleCloudRef = z
  .object({
    cloud_id: Uuid.describe('The Cloud'),
    slug: ShownSlug,
    display_name: ShownName,
    provider_bundle_version: z.int().describe('Version of the bundle that the Cloud is pinned to'),
  })
  .meta({ id: 'ProviderBundleCloudRef', description: 'A Cloud that references a provider bundle.' })
