import type { SeenRequest, StubAnswer, StubRoutes } from '../cli/stub-server.ts'
import { refused } from '../cli/stub-server.ts'

interface Package {
  readonly source: string
  readonly version: string
}

export interface StubBundle {
  readonly id: string
  readonly slug: string
  readonly provider: string
  /** One version has one package, so called. */
  latest: number
  /** The caller may not read it. */
  isHidden: boolean
  /** The caller may not read its roster. */
  isForeign: boolean
}

export interface StubCloud {
  readonly id: string
  readonly slug: string
  bundle: StubBundle | undefined
  version: number
  overrides: readonly Package[]
  own: readonly Package[]
  apiVersion: string
  /** How a change of it is refused. */
  refusal: StubAnswer | undefined
  /** Runs when it is read one by one, before the answer. */
  onRead: () => void
}

export interface CatalogueFleet {
  bundle(slug: string): StubBundle
  cloud(slug: string): StubCloud
  readonly routes: StubRoutes
  /** Bodies of the patches that were made, in that order, each behind the name of its Cloud. */
  readonly patches: readonly (readonly [slug: string, body: unknown])[]
}

const idOf = (place: string, index: number): string => `019c1a10-0000-7000-8000-00000${place}000${index}`
const at = { created_at: '2026-01-30T12:00:00.000Z', updated_at: '2026-01-31T12:00:00.000Z' }
const packageOf = (version: number): Package => ({
  source: 'oci://registry.example.com/provider-hetzner',
  version: `v1.${version}`,
})

const bundleView = ({ id, slug, provider, latest }: StubBundle) => ({
  id,
  slug,
  display_name: slug,
  provider,
  provider_packages: [packageOf(latest)],
  provider_config_api_version: 'v1beta1',
  latest_version: latest,
  ...at,
})

function effective({ bundle, version, overrides, own }: StubCloud): readonly Package[] {
  if (bundle === undefined) return own.map((one) => ({ ...one, origin: 'cloud' }))
  const kept = [packageOf(version)].filter(({ source }) => !overrides.some((one) => one.source === source))
  const all = [
    ...kept.map((one) => ({ ...one, origin: 'bundle' })),
    ...overrides.map((one) => ({ ...one, origin: 'override' })),
  ]
  return all.toSorted((one, other) => (one.source < other.source ? -1 : 1))
}

const cloudView = (cloud: StubCloud) => ({
  id: cloud.id,
  slug: cloud.slug,
  display_name: cloud.slug.toUpperCase(),
  provider: 'hetzner',
  endpoint: { api_url: 'https://api.hetzner.cloud/v1' },
  region_defaults: {},
  external_id: 'api.hetzner.cloud',
  provider_packages: effective(cloud),
  provider_config_api_version: cloud.apiVersion,
  ...(cloud.bundle && {
    provider_bundle_id: cloud.bundle.id,
    provider_bundle_slug: cloud.bundle.slug,
    provider_bundle_version: cloud.version,
  }),
  ...at,
})

const unknownVersion = refused(400, 'provider_bundle_version_not_found', 'The bundle has never published this version.')
const page = (items: readonly unknown[]): StubAnswer => ({ body: { items, next_cursor: null } })
const denied = (object: string, relation: string): StubAnswer => {
  const answer = refused(403, 'permission_denied', 'The caller lacks the relation.')
  const missing_relation = { subject: 'user:x', relation, object }
  return { ...answer, body: { ...(answer.body as object), reason: 'insufficient_relation', missing_relation } }
}

/** Makes the change that a patch asks for. */
function change(cloud: StubCloud, body: Readonly<Record<string, unknown>>): StubAnswer {
  const { provider_bundle_version: version, provider_package_overrides: overrides } = body
  if (typeof version === 'number' && version > (cloud.bundle?.latest ?? 0)) return unknownVersion
  if (typeof version === 'number') cloud.version = version
  if (Array.isArray(overrides)) cloud.overrides = overrides as readonly Package[]
  if (Array.isArray(body['provider_packages'])) {
    Object.assign(cloud, { bundle: undefined, overrides: [], own: body['provider_packages'] })
  }
  if (typeof body['provider_config_api_version'] === 'string') cloud.apiVersion = body['provider_config_api_version']
  return { body: cloudView(cloud) }
}

/**
 * A bundle of four versions and another one; Clouds eu1 at version 3, eu2 at 2 with an override, eu3 at 4, eu4 at 1, and own1
 * with packages of its own.
 */
export function catalogueFleet(arrange: (fleet: CatalogueFleet) => void = () => undefined): CatalogueFleet {
  const base: StubBundle = {
    id: idOf('0b0', 1),
    slug: 'hetzner-base',
    provider: 'hetzner',
    latest: 4,
    isHidden: false,
    isForeign: false,
  }
  const aws: StubBundle = { ...base, id: idOf('0b0', 2), slug: 'aws-base', provider: 'aws', latest: 1 }
  const bundles = [base, aws]
  const cloud = (index: number, slug: string, more: Partial<StubCloud>): StubCloud => ({
    id: idOf('0c0', index),
    slug,
    bundle: base,
    version: 1,
    overrides: [],
    own: [],
    apiVersion: 'v1beta1',
    refusal: undefined,
    onRead: () => undefined,
    ...more,
  })
  const clouds = [
    cloud(1, 'eu1', { version: 3 }),
    cloud(2, 'eu2', { version: 2, overrides: [{ source: 'oci://registry.example.com/extra', version: 'v9' }] }),
    cloud(3, 'eu3', { version: 4 }),
    cloud(4, 'eu4', { version: 1 }),
    cloud(5, 'own1', { bundle: undefined, own: [packageOf(0)] }),
  ]
  const patches: (readonly [string, unknown])[] = []
  const fleet: CatalogueFleet = {
    bundle: (slug) => named(bundles, slug),
    cloud: (slug) => named(clouds, slug),
    patches,
    routes: {
      'GET /v1/auth/whoami': { body: { subject: 'user:x', kind: 'user', domain_id: idOf('0d0', 1), credential: {} } },
      'GET /v1/clouds': () => page(clouds.map(cloudView)),
      'GET /v1/provider-bundles': () => page(bundles.filter(({ isHidden }) => !isHidden).map(bundleView)),
      'POST /v1/auth/check': { body: { decision: 'denied' } },
      ...routesOfBundles(bundles, clouds),
      ...routesOfClouds(clouds, patches),
    },
  }
  arrange(fleet)
  return fleet
}

function named<T extends { readonly slug: string }>(rows: readonly T[], slug: string): T {
  const found = rows.find((row) => row.slug === slug)
  if (found === undefined) throw new Error(`the fleet has no ${slug}`)
  return found
}

function routesOfBundles(bundles: readonly StubBundle[], clouds: readonly StubCloud[]): StubRoutes {
  const routes = bundles.flatMap((bundle) => {
    const path = `GET /v1/provider-bundles/${bundle.id}`
    const object = `provider_bundle:${bundle.id}`
    const roster = (): StubAnswer =>
      page(
        clouds
          .filter((cloud) => cloud.bundle === bundle)
          .map(({ id, slug, version }) => ({
            cloud_id: id,
            slug,
            display_name: slug,
            provider_bundle_version: version,
          })),
      )
    const version = (one: number) => ({
      version: one,
      provider_packages: [packageOf(one)],
      provider_config_api_version: 'v1beta1',
      created_by: one === 1 ? '' : `user:${idOf('0e0', 1)}`,
      created_at: at.created_at,
    })
    return [
      [path, () => (bundle.isHidden ? denied(object, 'observe') : { body: bundleView(bundle) })],
      [`${path}/clouds`, () => (bundle.isForeign ? denied(object, 'manage') : roster())],
      [
        `${path}/versions`,
        () => page(Array.from({ length: bundle.latest }, (_, index) => version(bundle.latest - index))),
      ],
    ] as const
  })
  return Object.fromEntries(routes)
}

function routesOfClouds(clouds: readonly StubCloud[], patches: (readonly [string, unknown])[]): StubRoutes {
  const routes = clouds.flatMap((cloud) => {
    const path = `/v1/clouds/${cloud.id}`
    const read = (): StubAnswer => {
      cloud.onRead()
      return { body: cloudView(cloud) }
    }
    const patch = ({ body }: SeenRequest): StubAnswer => {
      patches.push([cloud.slug, body])
      return cloud.refusal ?? change(cloud, body as Readonly<Record<string, unknown>>)
    }
    return [
      [`GET ${path}`, read],
      [`PATCH ${path}`, patch],
    ] as const
  })
  return Object.fromEntries(routes)
}
