import type { nodeState } from '../../../src/shared/contract/node-state.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

export const nodeStateScenarios: Scenarios<World, typeof nodeState> = {
  async GetNodeState({ node, root, nobody }) {
    const [own, other] = [await node(), await node()]
    return { input: { id: own.id }, as: root, lesser: nobody, also: [{ as: own.nsk, lesser: other.nsk }] }
  },
}
