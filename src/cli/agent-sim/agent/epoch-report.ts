import { EDGE_EPOCHS_KEY } from '../../../shared/mesh/epoch-digest.ts'
import { attempt } from '../attempt.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { MeshAgentDeps } from './agent-deps.ts'

/** Changes that come so soon after one another are reported together; and how much later at most. */
const SETTLED_MS = 2_000
const JITTER_MS = 1_000

/** Sets out to report the digest of the epochs that the node knows, once changes have settled. */
export function digestSoon(deps: MeshAgentDeps, node: SimulatedNode): void {
  if (node.isDigestDue) return
  node.isDigestDue = true
  deps.errands.soon(SETTLED_MS + deps.clock.random() * JITTER_MS, () =>
    deps.mesh.turnstiles.digests(deps.until, () => {
      node.isDigestDue = false
      return reportDigest(deps, node)
    }),
  )
}

async function reportDigest(deps: MeshAgentDeps, node: SimulatedNode): Promise<void> {
  const { node_id: id, psk_issued_at: own } = node.identity
  if (node.view === undefined || own === undefined) return
  const { count, sha256 } = deps.mesh.digest(node.view, own)
  if (sha256 === node.lastDigest) return
  const outcome = await attempt(deps, node, {
    operation: 'report',
    isRepeatable: true,
    call: (token) =>
      deps.client.PutNodeStateReport({ id, key: EDGE_EPOCHS_KEY, body: { value: { count, sha256 } } }, { token }),
  })
  if (outcome.ok) node.lastDigest = sha256
}
