import { attempt } from '../attempt.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { AgentDeps } from './agent-deps.ts'

/**
 * Replaces the node's secret key with its own hand. The first use of the new one ends the old one, so that calls under way
 * with it are made again. Not repeated when its answer is lost: the old key goes on working.
 */
export async function rotateSecretKey(deps: AgentDeps, node: SimulatedNode): Promise<void> {
  const id = node.identity.node_id
  const outcome = await attempt(deps, node, {
    operation: 'nsk_rotation',
    isRepeatable: false,
    call: (token) => deps.client.PostNodeSecretKeyRotate({ id }, { token }),
  })
  if (outcome.ok) node.identity = { ...node.identity, nsk: outcome.value.nsk }
}
