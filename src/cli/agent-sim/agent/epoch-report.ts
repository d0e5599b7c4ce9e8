import { createHash } from 'node:crypto'
import { createEpochDigest, EDGE_EPOCHS_KEY, type RunningSha256 } from '../../../shared/mesh/epoch-digest.ts'
import { formatEdgeEpoch } from '../../../shared/mesh/edge-epoch.ts'
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
  const digest = createEpochDigest(openSsl())
  for (const peer of node.view.all()) digest.add(peer.node_id, formatEdgeEpoch({ own, peer: peer.psk_issued_at }))
  const { count, sha256 } = digest.report()
  if (sha256 === node.lastDigest) return
  const outcome = await attempt(deps, node, {
    operation: 'report',
    isRepeatable: true,
    call: (token) =>
      deps.client.PutNodeStateReport({ id, key: EDGE_EPOCHS_KEY, body: { value: { count, sha256 } } }, { token }),
  })
  if (outcome.ok) node.lastDigest = sha256
}

/** Characters that are handed to OpenSSL together: a call for each line takes longer than the digest. */
const GATHERED = 64 * 1024

/** SHA-256 of this process's OpenSSL, ten times as fast as in JavaScript. */
function openSsl(): RunningSha256 {
  const hash = createHash('sha256')
  let lines = ''
  return {
    update(text) {
      lines += text
      if (lines.length < GATHERED) return
      hash.update(lines)
      lines = ''
    },
    hex: () => hash.update(lines).digest('hex'),
  }
}
