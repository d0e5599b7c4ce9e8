import type { MadeBridges } from '../made-bridges.ts'
import type { Rates } from '../scenario/rates.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { MeshAgentDeps } from './agent-deps.ts'
import { reportCapabilities } from './capabilities.ts'
import { fetchEdgeKeysSoon } from '../../../client/agent/keys/edge-key.ts'
import { changeEndpoint, keepOwnEndpoint } from './endpoint.ts'
import { alterHook, reportAlteredBinary } from './integrity.ts'
import { rotateSecretKey } from '../../../client/agent/keys/secret-key-rotation.ts'
import { pullSoon } from '../../../client/agent/state/state-pull.ts'
import { reportWorkload } from './state-report.ts'

/** Starts an agent of the mesh: capabilities, endpoint, first pull and edge keys. */
export async function startAgent(deps: MeshAgentDeps, node: SimulatedNode, until: AbortSignal): Promise<void> {
  await reportCapabilities(deps, node)
  await keepOwnEndpoint(deps, node, until)
  if (deps.mesh.pullsAtStart) pullSoon(deps, node, 0)
  fetchEdgeKeysSoon(deps, node)
  await reportAlteredBinary(deps, node)
}

/** The fleet whose occasional work is done. */
export interface ChoreOf {
  readonly name: keyof Rates
  readonly nodes: readonly SimulatedNode[]
  readonly bridges: Pick<MadeBridges, 'change'>
}

/** Starts a piece of occasional work for a random node or bridge. */
export function startChore(deps: MeshAgentDeps, { name, nodes, bridges }: ChoreOf): void {
  if (name === 'bridge_changes') return deps.tasks.track(bridges.change())
  const node = nodes[Math.floor(deps.clock.random() * nodes.length)]
  if (node !== undefined && !node.isRevoked) deps.tasks.track(CHORES[name](deps, node))
  return undefined
}

/** The occasional work of agents, by the name of its rate. */
const CHORES: Readonly<
  Record<Exclude<keyof Rates, 'bridge_changes'>, (deps: MeshAgentDeps, node: SimulatedNode) => Promise<void>>
> = {
  endpoint_changes: changeEndpoint,
  pulls: async (deps, node) => pullSoon(deps, node, 0),
  reports: reportWorkload,
  violations: alterHook,
  nsk_rotations: rotateSecretKey,
}
