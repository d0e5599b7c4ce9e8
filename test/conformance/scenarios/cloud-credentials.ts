import type { cloudCredentials } from '../../../src/shared/contract/cloud-credentials.ts'
import type { Scenarios, ValidCall } from '../scenario.ts'
import type { World } from '../world.ts'
import { makeCloud } from './provider-bundles.ts'

const PACKAGES = [{ source: 'oci://registry.example/provider-hetzner', version: 'v1.4.0' }]
const INLINE = { provider_packages: PACKAGES, provider_config_api_version: 'v1beta1' }
const SECRET = { token: 'of a scenario' }

/** Scenarios of the credentials of Clouds. */
export const cloudCredentialScenarios: Scenarios<World, typeof cloudCredentials> = {
  async CreateCloudCredential(world) {
    const body = { display_name: 'Production', secret: SECRET, expires_at: '2999-01-01T00:00:00+02:00' }
    return { input: { id: await makeCloud(world, INLINE), body }, as: world.root, lesser: world.nobody }
  },
  async ListCloudCredentials(world) {
    const id = await makeCloud(world, INLINE)
    for (const _ of ['one', 'two', 'three']) await makeCredential(world, id)
    return { input: { id }, as: world.root, lesser: world.nobody }
  },
  async GetCloudCredential(world) {
    return { input: { id: await makeCredential(world) }, as: world.root, lesser: world.nobody }
  },
  async PatchCloudCredential(world) {
    const id = await makeCredential(world)
    const body = { display_name: 'Renamed', state: 'suspended' as const, expires_at: null }
    return { input: { id, body }, ...(await callers(world)) }
  },
  async DeleteCloudCredential(world) {
    return { input: { id: await makeCredential(world) }, ...(await callers(world)) }
  },
  async RotateCloudCredential(world) {
    return { input: { id: await makeCredential(world), body: { secret: SECRET } }, ...(await callers(world)) }
  },
  async RevokeCloudCredential(world) {
    return { input: { id: await makeCredential(world), body: { reason: 'It leaked' } }, ...(await callers(world)) }
  },
}

/** A new credential, by default of a new Cloud, by id. */
export async function makeCredential(world: World, cloudId?: string): Promise<string> {
  const body = { display_name: 'Production', secret: SECRET }
  const { id } = await world.make('CreateCloudCredential', { id: cloudId ?? (await makeCloud(world, INLINE)), body })
  return id
}

/** Who may read a credential and change none is a viewer of the platform. */
async function callers(world: World): Promise<Pick<ValidCall, 'as' | 'lesser' | 'onlooker'>> {
  const onlooker = await world.signedIn()
  const { subject } = await world.makeAs(onlooker, 'GetAuthWhoami', {})
  await world.make('CreatePlatformGrant', { body: { subject, relation: 'viewer' } })
  return { as: world.root, lesser: world.nobody, onlooker }
}
