import type { providerBundles } from '../../../src/shared/contract/provider-bundles.ts'
import { exchange, signed } from '../wire.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

/** Scenarios of the provider bundle operations. */
export const providerBundleScenarios: Scenarios<World, typeof providerBundles> = {
  CreateProviderBundle: ({ root, nobody, name }) => ({ input: { body: bundleBody(name()) }, as: root, lesser: nobody }),
  async ListProviderBundles(world) {
    for (const _ of ['one', 'two']) await makeBundle(world)
    return { input: {}, as: world.root }
  },
  async GetProviderBundle(world) {
    return { input: { id: await makeBundle(world) }, as: world.root, lesser: world.nobody }
  },
  async PatchProviderBundle(world) {
    const id = await makeBundle(world)
    const packages = [{ source: 'oci://registry.example/provider-hetzner', version: 'v1.5.0' }]
    const body = { display_name: 'Renamed', provider_packages: packages, provider_config_api_version: 'v1' }
    return { input: { id, body }, as: world.root, lesser: world.nobody }
  },
  async DeleteProviderBundle(world) {
    return { input: { id: await makeBundle(world) }, as: world.root, lesser: world.nobody }
  },
  async ListProviderBundleClouds(world) {
    const id = await makeBundle(world)
    for (const _ of ['one', 'two', 'three']) await makeCloud(world, { provider_bundle_id: id })
    return { input: { id }, as: world.root, lesser: world.nobody }
  },
  async ListProviderBundleVersions(world) {
    const id = await makeBundle(world)
    for (const version of ['v2', 'v3']) {
      await world.make('PatchProviderBundle', { id, body: { provider_config_api_version: version } })
    }
    return { input: { id }, as: world.root, lesser: world.nobody }
  },
}

function bundleBody(slug: string) {
  return {
    slug,
    display_name: 'A bundle',
    provider: 'hetzner' as const,
    provider_packages: [
      { source: 'oci://registry.example/provider-hetzner', version: 'v1.4.0' },
      { source: 'oci://registry.example/base', version: 'v0.1.0' },
    ],
    provider_config_api_version: 'v1beta1',
  }
}

const DEADLINE_MS = 10_000

/** A new bundle whose grants are written, by id. */
export async function makeBundle(world: World): Promise<string> {
  const { id } = await world.make('CreateProviderBundle', { body: bundleBody(world.name()) })
  const deadline = performance.now() + DEADLINE_MS
  for (;;) {
    const read = { method: 'GET', path: `/v1/provider-bundles/${id}` }
    const { status, text } = await exchange(world.url, signed(read, world.root))
    if (status === 200) return id
    if (performance.now() > deadline) throw new Error(`the bundle is not readable: ${text}`)
  }
}

/** A new Cloud with that configuration, by id. */
export async function makeCloud(world: World, configuration: Readonly<Record<string, unknown>>): Promise<string> {
  const described = { slug: world.name(), display_name: 'A Cloud', provider: 'hetzner', endpoint: {} }
  const { id } = await world.make('CreateCloud', { body: { ...described, ...configuration } })
  return id
}
