import type { grants } from '../../../src/shared/contract/grants.ts'
import type { groups } from '../../../src/shared/contract/groups.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

/** A service identity that holds nothing yet, as a subject. */
async function newcomer({ make, domainId, name }: World): Promise<string> {
  const body = { display_name: 'A newcomer', subject: name() }
  return `serviceaccount:${(await make('CreateServiceIdentity', { id: domainId, body })).id}`
}

export const grantScenarios: Scenarios<World, typeof grants> = {
  async CreateDomainGrant(world) {
    const body = { subject: await newcomer(world), relation: 'viewer' }
    return { input: { id: world.domainId, body }, as: world.root, lesser: world.nobody }
  },
  ListDomainGrants: ({ root, nobody, domainId }) => ({ input: { id: domainId }, as: root, lesser: nobody }),
  async DeleteDomainGrant(world) {
    const { make, domainId: id } = world
    const grant = await make('CreateDomainGrant', { id, body: { subject: await newcomer(world), relation: 'viewer' } })
    return { input: { id, tuple_id: grant.id }, as: world.root, lesser: world.nobody }
  },
  async CreatePlatformGrant(world) {
    const body = { subject: await newcomer(world), relation: 'viewer' }
    return { input: { body }, as: world.root, lesser: world.nobody }
  },
  ListPlatformGrants: ({ root, nobody }) => ({ input: {}, as: root, lesser: nobody }),
  async DeletePlatformGrant(world) {
    const body = { subject: await newcomer(world), relation: 'viewer' }
    const grant = await world.make('CreatePlatformGrant', { body })
    return { input: { tuple_id: grant.id }, as: world.root, lesser: world.nobody }
  },
}

async function group({ make, domainId, name }: World): Promise<{ id: string; group_id: string }> {
  const body = { slug: name(), display_name: 'Short-lived' }
  return { id: domainId, group_id: (await make('CreateGroup', { id: domainId, body })).id }
}

export const groupScenarios: Scenarios<World, typeof groups> = {
  CreateGroup: ({ root, nobody, domainId, name }) => ({
    input: { id: domainId, body: { slug: name(), display_name: 'A group' } },
    as: root,
    lesser: nobody,
  }),
  ListGroups: ({ root, nobody, domainId }) => ({ input: { id: domainId }, as: root, lesser: nobody }),
  async GetGroup(world) {
    return { input: await group(world), as: world.root, lesser: world.nobody }
  },
  async DeleteGroup(world) {
    return { input: await group(world), as: world.root, lesser: world.nobody }
  },
  async PutGroupMember(world) {
    const input = { ...(await group(world)), subject: await newcomer(world) }
    return { input, as: world.root, lesser: world.nobody }
  },
  async DeleteGroupMember(world) {
    const input = { ...(await group(world)), subject: await newcomer(world) }
    await world.make('PutGroupMember', input)
    return { input, as: world.root, lesser: world.nobody }
  },
}
