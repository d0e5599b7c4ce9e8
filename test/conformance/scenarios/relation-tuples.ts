import type { relationTuples } from '../../../src/shared/contract/relation-tuples.ts'
import type { Scenarios } from '../scenario.ts'
import type { Made, World } from '../world.ts'

/** Scenarios of the operations on the tuples of a Project. */
export const relationTupleScenarios: Scenarios<World, typeof relationTuples> = {
  async ListRelationTuples(world) {
    for (const _ of ['one', 'two']) await makeTuple(world)
    return { input: { project_id: world.projectId }, as: world.root, lesser: world.nobody }
  },
  async CreateRelationTuple(world) {
    const body = await makeBinding(world)
    return { input: { project_id: world.projectId, body }, as: world.root, lesser: world.nobody }
  },
  async BulkCreateRelationTuples(world) {
    const { projectId: project_id } = world
    const tuples = [
      { project_id, ...(await makeBinding(world)) },
      { project_id, ...(await makeBinding(world)), relation: 'deployer' },
    ]
    return { input: { body: { tuples } }, as: world.root, lesser: world.nobody }
  },
  async PatchRelationTuple(world) {
    const { id } = await makeTuple(world)
    return { input: { id, body: await makeBinding(world) }, as: world.root, lesser: world.nobody }
  },
  async DeleteRelationTuple(world) {
    const { id } = await makeTuple(world)
    return { input: { id }, as: world.root, lesser: world.nobody }
  },
}

async function makeTuple(world: World): Promise<Made> {
  return world.make('CreateRelationTuple', { project_id: world.projectId, body: await makeBinding(world) })
}

/** A role on the Project for the members of a new group, who hold nothing yet. */
async function makeBinding({ domainId, projectId, make, name }: World) {
  const { id } = await make('CreateGroup', { id: domainId, body: { slug: name(), display_name: 'A group' } })
  return {
    subject: `group:${id}#member`,
    relation: 'viewer',
    resource: `project:${projectId}`,
    caveat_context: { caveat_name: 'within_hours', now: null, business_hours: null },
  }
}
