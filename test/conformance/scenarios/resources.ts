import type { resources } from '../../../src/shared/contract/resources.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

/** Scenarios of the resource operations. */
export const resourceScenarios: Scenarios<World, typeof resources> = {
  async CreateResource({ projectId, name, node, root, nobody }) {
    const host = await node()
    const kind = 'bridge' as const
    const body = { kind, slug: name(), display_name: 'A bridge', host_node_ids: [host.id] }
    return { input: { id: projectId, body }, as: root, lesser: nobody }
  },
  async ListResources(world) {
    for (const _ of ['one', 'two']) await makeResource(world)
    return { input: { id: world.projectId }, as: world.root }
  },
  async GetResource(world) {
    return { input: await makeResource(world), as: world.root, lesser: world.nobody }
  },
  async PatchResource(world) {
    const body = { display_name: 'Renamed', host_node_ids: [] }
    const resource = await makeResource(world, 'bridge')
    const variants = [{ ...resource, body: { host_node_ids: [(await world.node()).id] } }]
    return { input: { ...resource, body }, variants, as: world.root, lesser: world.nobody }
  },
  async DeleteResource(world) {
    return { input: await makeResource(world), as: world.root, lesser: world.nobody }
  },
}

/** A new resource, as paths name it. */
async function makeResource(
  { projectId, make, name }: World,
  kind = 'workload',
): Promise<{ id: string; resource_id: string }> {
  const body = { kind, slug: name(), display_name: 'A resource' }
  const { id } = await make('CreateResource', { id: projectId, body })
  return { id: projectId, resource_id: id }
}
