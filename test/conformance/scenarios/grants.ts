import type { grants } from '../../../src/shared/contract/grants.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

/** Scenarios of the operations on roles of Domains and of the platform. */
export const grantScenarios: Scenarios<World, typeof grants> = {
  async CreateDomainGrant(world) {
    const body = { subject: await makeSubject(world), relation: 'viewer' }
    return { input: { id: world.domainId, body }, as: world.root, lesser: world.nobody }
  },
  async ListDomainGrants(world) {
    const { domainId: id, make, root, nobody } = world
    for (const _ of ['one', 'two']) {
      await make('CreateDomainGrant', { id, body: { subject: await makeSubject(world), relation: 'viewer' } })
    }
    return { input: { id }, as: root, lesser: nobody }
  },
  async DeleteDomainGrant(world) {
    const body = { subject: await makeSubject(world), relation: 'viewer' }
    const { id } = await world.make('CreateDomainGrant', { id: world.domainId, body })
    return { input: { id: world.domainId, tuple_id: id }, as: world.root, lesser: world.nobody }
  },
  async CreatePlatformGrant(world) {
    const body = { subject: await makeSubject(world), relation: 'viewer' }
    return { input: { body }, as: world.root, lesser: world.nobody }
  },
  ListPlatformGrants: ({ root, nobody }) => ({ input: {}, as: root, lesser: nobody }),
  async DeletePlatformGrant(world) {
    const body = { subject: await makeSubject(world), relation: 'viewer' }
    const { id } = await world.make('CreatePlatformGrant', { body })
    return { input: { tuple_id: id }, as: world.root, lesser: world.nobody }
  },
}

/** The members of a new group: a subject that holds nothing yet. */
async function makeSubject({ domainId, make, name }: World): Promise<string> {
  const { id } = await make('CreateGroup', { id: domainId, body: { slug: name(), display_name: 'A group' } })
  return `group:${id}#member`
}
