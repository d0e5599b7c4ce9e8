import type { idpBindings } from '../../../src/shared/contract/idp-bindings.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

/** Scenarios of the identity provider bindings. Each has a Domain of its own, since a Domain takes 50 of them. */
export const idpBindingScenarios: Scenarios<World, typeof idpBindings> = {
  async GetAuthIdPBindings(world) {
    const { domainId } = await makeBinding(world)
    return { input: { domain_id: domainId }, domainId }
  },
  async GetAdminIdP(world) {
    const { domainId } = await makeBinding(world)
    for (const _ of ['two', 'three']) await world.make('PostAdminIdP', { domain_id: domainId, body: body(world) })
    return { input: { domain_id: domainId }, domainId, as: world.root, lesser: world.nobody }
  },
  async PostAdminIdP(world) {
    const domainId = await makeDomain(world)
    return { input: { domain_id: domainId, body: body(world) }, domainId, as: world.root, lesser: world.nobody }
  },
  async PatchAdminIdPByID(world) {
    const { id, domainId } = await makeBinding(world)
    const change = { label: 'Renamed', client_secret: 'another' }
    return { input: { id, body: change }, domainId, as: world.root, lesser: world.nobody }
  },
  async DeleteAdminIdPByID(world) {
    const { id, domainId } = await makeBinding(world)
    return { input: { id }, domainId, as: world.root, lesser: world.nobody }
  },
  async PostAdminIdPTest(world) {
    const { id, domainId } = await makeBinding(world)
    return { input: { id }, domainId, as: world.root, lesser: world.nobody }
  },
}

/** An issuer at an address that is refused before anything is asked of it. */
function body({ name }: World) {
  const client = { client_id: name(), client_secret: 'a secret', api_audience: name() }
  return { alias: name(), label: 'An issuer', issuer: 'https://127.0.0.1:1', ...client }
}

async function makeBinding(world: World): Promise<{ readonly id: string; readonly domainId: string }> {
  const domainId = await makeDomain(world)
  const { id } = await world.make('PostAdminIdP', { domain_id: domainId, body: body(world) })
  return { id, domainId }
}

async function makeDomain({ make, name }: World): Promise<string> {
  return (await make('CreateDomain', { body: { slug: name(), display_name: 'Bound' } })).id
}
