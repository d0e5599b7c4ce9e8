import type { PeerFacts } from '../peer-book.ts'
import { createPeerView, type PeerView } from '../peer-view.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { MeshAgentDeps } from './agent-deps.ts'
import { fetchEdgeKeySoon } from './edge-key.ts'
import { digestSoon } from './epoch-report.ts'

/**
 * Takes the peers of a pull. A pull is the whole truth as it was when the server answered: what the node knew before can be
 * newer only where an event told of it while the answer was on its way. An epoch that is older in any other case is refused.
 */
export function takePeers(deps: MeshAgentDeps, node: SimulatedNode, pulled: PeerView): void {
  const before = node.view ?? createPeerView(deps.mesh.book)
  let isAnotherEpoch = node.view === undefined
  node.view = pulled
  for (const { own, other } of pulled.differing(before)) {
    if (choose(deps, node, { pulled: own, known: other })) isAnotherEpoch = true
  }
  if (!isAnotherEpoch) return
  for (const peerId of deps.mesh.neighbours(node.place)) {
    const issued = pulled.find(peerId)?.psk_issued_at
    if (issued !== undefined && issued !== before.find(peerId)?.psk_issued_at) fetchEdgeKeySoon(deps, node, peerId)
  }
  digestSoon(deps, node)
}

interface Choice {
  readonly pulled: PeerFacts | undefined
  readonly known: PeerFacts | undefined
}

/** Decides what to believe of a peer of which the pull says something else than was known; returns whether its epoch is another one. */
function choose({ statistics }: MeshAgentDeps, { view, pulling }: SimulatedNode, { pulled, known }: Choice): boolean {
  if (known === undefined) return pulled !== undefined
  const isTold = pulling.told.has(known.node_id)
  if (pulled === undefined) {
    // An event told of it while the answer was on its way, and it may not be in there yet: the next pull says.
    if (isTold) view?.set(known.node_id, known)
    return !isTold
  }
  if (known.psk_issued_at <= pulled.psk_issued_at) return known.psk_issued_at !== pulled.psk_issued_at
  if (!isTold) statistics.count('epoch_regressions')
  const { public_key, psk_issued_at } = known
  view?.set(known.node_id, { ...pulled, public_key, psk_issued_at })
  return false
}
