import { attempt } from '../calls/attempt.ts'
import type { Member } from '../member.ts'
import type { AgentDeps } from '../agent-deps.ts'

/**
 * Replaces the node's secret key with the node's own credential. The first use of the new key ends the old one, so open calls
 * with the old key are repeated. The rotation itself is not repeated: if its answer is lost, the old key stays valid.
 */
export async function rotateSecretKey(deps: AgentDeps, node: Member): Promise<void> {
  const id = node.identity.node_id
  const outcome = await attempt(deps, node, {
    operation: 'nsk_rotation',
    isRepeatable: false,
    call: (token) => deps.client.PostNodeSecretKeyRotate({ id }, { token }),
  })
  if (outcome.ok) node.identity = { ...node.identity, nsk: outcome.value.nsk }
}
