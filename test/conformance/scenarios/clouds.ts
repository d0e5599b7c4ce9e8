import type { clouds } from '../../../src/shared/contract/clouds.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'
import { makeBundle, makeCloud } from './provider-bundles.ts'

const PACKAGES = [{ source: 'oci://registry.example/provider-hetzner', version: 'v1.4.0' }]
const INLINE = { provider_packages: PACKAGES, provider_config_api_version: 'v1beta1' }

/** Scenarios of the Cloud operations. */
export const cloudScenarios: Scenarios<World, typeof clouds> = {
  async CreateCloud(world) {
    const described = {
      slug: world.name(),
      display_name: 'A Cloud',
      provider: 'hetzner' as const,
      endpoint: { api_url: 'https://api.hetzner.cloud/v1' },
      region_defaults: { location: 'fsn1' },
    }
    const ofBundle = { provider_bundle_id: await makeBundle(world), provider_bundle_version: 1 }
    const inBundleMode = { ...described, ...ofBundle, provider_package_overrides: PACKAGES }
    const variants = [{ body: inBundleMode }]
    return { input: { body: { ...described, ...INLINE } }, variants, as: world.root, lesser: world.nobody }
  },
  async ListClouds(world) {
    for (const _ of ['one', 'two']) await makeCloud(world, INLINE)
    return { input: {}, as: world.root }
  },
  async GetCloud(world) {
    return { input: { id: await makeCloud(world, INLINE) }, as: world.root, lesser: world.nobody }
  },
  async PatchCloud(world) {
    const id = await makeCloud(world, INLINE)
    const body = { display_name: 'Renamed', endpoint: {}, region_defaults: {}, ...INLINE }
    const variants = [{ id, body: { provider_bundle_id: await makeBundle(world) } }]
    return { input: { id, body }, variants, as: world.root, lesser: world.nobody }
  },
  async DeleteCloud(world) {
    return { input: { id: await makeCloud(world, INLINE) }, as: world.root, lesser: world.nobody }
  },
}
