import type { nodeEvents } from '../../../src/shared/contract/node-events.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

export const nodeEventScenarios: Scenarios<World, typeof nodeEvents> = {
  async GetNodeEvents({ node, root, nobody }) {
    const [own, other] = [await node(), await node()]
    const input = { id: own.id }
    return { input, as: root, lesser: nobody, also: [{ as: own.nsk, lesser: other.nsk }] }
  },
}
