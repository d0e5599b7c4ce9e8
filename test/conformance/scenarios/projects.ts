import type { projects } from '../../../src/shared/contract/projects.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

/** Scenarios of the Project operations. */
export const projectScenarios: Scenarios<World, typeof projects> = {
  CreateProject: ({ domainId, name, root, nobody }) => ({
    input: { id: domainId, body: { slug: name(), display_name: 'A Project' } },
    as: root,
    lesser: nobody,
  }),
  async ListProjects({ domainId: id, make, name, root }) {
    await make('CreateProject', { id, body: { slug: name(), display_name: 'Another' } })
    return { input: { id }, as: root }
  },
  GetProject: ({ projectId, root, nobody }) => ({ input: { id: projectId }, as: root, lesser: nobody }),
  PatchProject: ({ projectId, root, nobody }) => ({
    input: { id: projectId, body: { display_name: 'Renamed' } },
    as: root,
    lesser: nobody,
  }),
  async DeleteProject({ domainId, make, name, root, nobody }) {
    const { id } = await make('CreateProject', { id: domainId, body: { slug: name(), display_name: 'Short-lived' } })
    return { input: { id }, as: root, lesser: nobody }
  },
}
