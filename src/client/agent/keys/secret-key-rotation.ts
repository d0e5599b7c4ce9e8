import { attempt } from '../calls/attempt.ts'
import type { Member } from '../member.ts'
import type { AgentDeps } from '../agent-deps.ts'

/**
 * Replaces the node's secret key with the node's own credential. The new key is stored beside the old one before its first use, which
 * ends the old one; open calls with the old key are then repeated. If the answer is lost, the old key stays valid, and the call is
 * repeated with it.
 */
export async function rotateSecretKey(deps: AgentDeps, node: Member): Promise<void> {
  const id = node.identity.node_id
  if (node.isSavingKey) return
  const outcome = await attempt(deps, node, {
    operation: 'nsk_rotation',
    isRepeatable: true,
    call: (token) => deps.client.PostNodeSecretKeyRotate({ id }, { token }),
  })
  if (!outcome.ok) return
  node.isSavingKey = true
  node.identity = { ...node.identity, next_nsk: outcome.value.nsk }
  await deps.actions.save(node)
  node.isSavingKey = false
}
