import type { projects } from '../../../src/shared/contract/projects.ts'
import type { resources } from '../../../src/shared/contract/resources.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

async function project({ make, domainId, name }: World): Promise<string> {
  return (await make('CreateProject', { id: domainId, body: { slug: name(), display_name: 'Short-lived' } })).id
}

export const projectScenarios: Scenarios<World, typeof projects> = {
  CreateProject: ({ root, nobody, domainId, name }) => ({
    input: { id: domainId, body: { slug: name(), display_name: 'A Project' } },
    as: root,
    lesser: nobody,
  }),
  ListProjects: ({ root, domainId }) => ({ input: { id: domainId }, as: root }),
  GetProject: ({ root, nobody, projectId }) => ({ input: { id: projectId }, as: root, lesser: nobody }),
  PatchProject: ({ root, nobody, projectId }) => ({
    input: { id: projectId, body: { display_name: 'Renamed' } },
    as: root,
    lesser: nobody,
  }),
  async DeleteProject(world) {
    return { input: { id: await project(world) }, as: world.root, lesser: world.nobody }
  },
}

async function resource({ make, projectId, name }: World): Promise<{ id: string; resource_id: string }> {
  const body = { kind: 'workload', slug: name(), display_name: 'Short-lived' }
  return { id: projectId, resource_id: (await make('CreateResource', { id: projectId, body })).id }
}

export const resourceScenarios: Scenarios<World, typeof resources> = {
  CreateResource: ({ root, nobody, projectId, name }) => ({
    input: { id: projectId, body: { kind: 'bridge', slug: name(), display_name: 'A bridge' } },
    as: root,
    lesser: nobody,
  }),
  ListResources: ({ root, projectId }) => ({ input: { id: projectId }, as: root }),
  async GetResource(world) {
    return { input: await resource(world), as: world.root, lesser: world.nobody }
  },
  async PatchResource(world) {
    const input = { ...(await resource(world)), body: { display_name: 'Renamed' } }
    return { input, as: world.root, lesser: world.nobody }
  },
  async DeleteResource(world) {
    return { input: await resource(world), as: world.root, lesser: world.nobody }
  },
}
