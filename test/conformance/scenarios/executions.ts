import type { executions } from '../../../src/shared/contract/executions.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

const body = { action: 'ping', type: 'builtin' as const, parameters: { count: 3 } }

export const executionScenarios: Scenarios<World, typeof executions> = {
  async CreateExecution({ node, root, nobody }) {
    return { input: { id: (await node()).id, body }, as: root, lesser: nobody }
  },
  async ListExecutions({ node, make, root, nobody }) {
    const { id } = await node()
    for (const _ of ['one', 'two', 'three']) await make('CreateExecution', { id, body })
    return { input: { id, status: 'pending' as const }, as: root, lesser: nobody }
  },
  async GetExecution(world) {
    const { input } = await asked(world)
    return { input, as: world.root, lesser: world.nobody }
  },
  async CancelExecution(world) {
    const { input } = await asked(world)
    return { input, as: world.root, lesser: world.nobody }
  },
  async PostExecutionCallback(world) {
    const { input, nsk } = await asked(world)
    const lesser = (await world.node()).nsk
    return { input: { ...input, body: { status: 'ack' as const } }, as: nsk, lesser }
  },
}

/** A node that was asked for something, as paths name it. */
async function asked({ node, make }: World): Promise<{ input: { id: string; execution_id: string }; nsk: string }> {
  const { id, nsk } = await node()
  const { execution_id } = await make('CreateExecution', { id, body })
  return { input: { id, execution_id }, nsk }
}
