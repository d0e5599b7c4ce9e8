import type { groups } from '../../../src/shared/contract/groups.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

/** Scenarios of the group operations. */
export const groupScenarios: Scenarios<World, typeof groups> = {
  CreateGroup: ({ domainId, name, root, nobody }) => ({
    input: { id: domainId, body: { slug: name(), display_name: 'A group' } },
    as: root,
    lesser: nobody,
  }),
  async ListGroups(world) {
    for (const _ of ['one', 'two']) await makeGroup(world)
    return { input: { id: world.domainId }, as: world.root, lesser: world.nobody }
  },
  async GetGroup(world) {
    return { input: await makeGroup(world), as: world.root, lesser: world.nobody }
  },
  async PatchGroup(world) {
    const input = { ...(await makeGroup(world)), body: { display_name: 'Renamed' } }
    return { input, as: world.root, lesser: world.nobody }
  },
  async DeleteGroup(world) {
    return { input: await makeGroup(world), as: world.root, lesser: world.nobody }
  },
  async PutGroupMember(world) {
    const subject = `serviceaccount:${world.identityId}`
    return { input: { ...(await makeGroup(world)), subject }, as: world.root, lesser: world.nobody }
  },
  async DeleteGroupMember(world) {
    const member = { ...(await makeGroup(world)), subject: `serviceaccount:${world.identityId}` }
    await world.make('PutGroupMember', member)
    return { input: member, as: world.root, lesser: world.nobody }
  },
}

/** A new group, as paths name it. */
async function makeGroup({ domainId, make, name }: World): Promise<{ id: string; group_id: string }> {
  const { id } = await make('CreateGroup', { id: domainId, body: { slug: name(), display_name: 'A group' } })
  return { id: domainId, group_id: id }
}
