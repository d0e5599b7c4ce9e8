import { parseNsk } from '../../../shared/credential-formats.ts'
import { openEdgeEnvelope } from '../../../shared/mesh/edge-envelope.ts'
import { isEpochAcceptable, parseEdgeEpoch, type EdgeEpoch } from '../../../shared/mesh/edge-epoch.ts'
import { attempt } from '../attempt.ts'
import type { SealedEdgeKey } from '../node-wire.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { MeshAgentDeps } from './agent-deps.ts'
import { digestSoon } from './epoch-report.ts'

/** An agent fetches the key of an edge within so many ms of hearing that it changed. */
const WITHIN_MS = 1_000

/** Sets out to fetch the key of an edge, one call at a time for each. */
export function fetchEdgeKeySoon(deps: MeshAgentDeps, node: SimulatedNode, peerId: string): void {
  if (node.fetching.has(peerId)) return void node.fetching.set(peerId, 'again')
  node.fetching.set(peerId, 'once')
  deps.errands.soon(deps.clock.random() * WITHIN_MS, () =>
    deps.mesh.turnstiles.edgeKeys(deps.until, async () => {
      // What was asked for until now is answered by the call that begins now.
      node.fetching.set(peerId, 'once')
      await fetchEdgeKey(deps, node, peerId)
      const isAgain = node.fetching.get(peerId) === 'again'
      node.fetching.delete(peerId)
      if (isAgain) fetchEdgeKeySoon(deps, node, peerId)
    }),
  )
}

/** Fetches the keys of all sampled edges again. */
export function fetchEdgeKeysSoon(deps: MeshAgentDeps, node: SimulatedNode): void {
  for (const peerId of deps.mesh.neighbours(node.place)) fetchEdgeKeySoon(deps, node, peerId)
}

async function fetchEdgeKey(deps: MeshAgentDeps, node: SimulatedNode, peerId: string): Promise<void> {
  const { node_id: nodeId } = node.identity
  const outcome = await attempt(deps, node, {
    operation: 'edge_key',
    isRepeatable: true,
    call: (nsk) => deps.mesh.wire.fetchEdgeKey({ nodeId, nsk, peerId }),
  })
  if (outcome.ok) putInForce(deps, node, { peerId, sealed: outcome.value })
}

interface Fetched {
  readonly peerId: string
  readonly sealed: SealedEdgeKey
}

/** Refuses what is older than what is in force (S0), opens the rest and compares it with what the other end holds. */
function putInForce(deps: MeshAgentDeps, node: SimulatedNode, { peerId, sealed }: Fetched): void {
  const { statistics, mesh } = deps
  const { node_id: nodeId } = node.identity
  const epoch = parseEdgeEpoch(sealed.epoch)
  const key = epoch && opened(sealed, { nodeId, peerId })
  if (epoch === undefined || key === undefined) return statistics.count('bad_envelopes')
  node.edges ??= new Map()
  if (!isEpochAcceptable(epoch, node.edges.get(peerId))) return statistics.count('epoch_regressions')
  node.edges.set(peerId, epoch)
  const comparison = mesh.ledger.put({ nodeId, peerId, epoch, key })
  if (comparison !== 'first') statistics.count('edges_compared')
  if (comparison === 'differs') statistics.count('edge_mismatches')
  return learnOwnHalf(deps, node, epoch)
}

function opened(
  { envelope, kid, epoch, nsk }: SealedEdgeKey,
  { nodeId, peerId }: { readonly nodeId: string; readonly peerId: string },
): Uint8Array | undefined {
  const fields = parseNsk(nsk)
  if (fields === undefined || fields.kid !== kid) return undefined
  const outcome = openEdgeEnvelope(envelope, fields.key, { nodeId, peerNodeId: peerId, epoch })
  return outcome.ok ? outcome.edgeKey : undefined
}

/** A rotation whose answer was lost, or of a run before, shows in the node's own half. */
function learnOwnHalf(deps: MeshAgentDeps, node: SimulatedNode, { own }: EdgeEpoch): void {
  const { psk_issued_at: known } = node.identity
  if (known !== undefined && known >= own) return
  node.identity = { ...node.identity, psk_issued_at: own }
  digestSoon(deps, node)
}
