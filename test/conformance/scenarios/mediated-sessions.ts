import type { mediatedSessions } from '../../../src/shared/contract/mediated-sessions.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

export const mediatedSessionScenarios: Scenarios<World, typeof mediatedSessions> = {
  async CreateMediatedSession({ node, projectId, root, nobody }) {
    const body = { node_id: (await node()).id, kind: 'ssh' as const, target: 'deploy' }
    return { input: { project_id: projectId, body }, as: root, lesser: nobody }
  },
  async ListMediatedSessions(world) {
    for (const _ of ['one', 'two']) await issued(world)
    return { input: { project_id: world.projectId }, as: world.root, lesser: world.nobody }
  },
  async DeleteMediatedSession(world) {
    const { session_id } = await issued(world)
    return { input: { project_id: world.projectId, session_id }, as: world.root, lesser: world.nobody }
  },
  async PostSessionActivity(world) {
    const { id, nsk, session_id } = await issued(world)
    const lesser = (await world.node()).nsk
    return { input: { id, session_id, body: { ssh: { event: 'opened' as const } } }, as: nsk, lesser }
  },
}

/** A node with a session through it. */
async function issued({ node, make, projectId }: World): Promise<{ id: string; nsk: string; session_id: string }> {
  const { id, nsk } = await node()
  const body = { node_id: id, kind: 'ssh', target: 'deploy' }
  const { session_id } = await make('CreateMediatedSession', { project_id: projectId, body })
  return { id, nsk, session_id }
}
