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
export function takePeers(deps: MeshAgentDeps, node: SimulatedNode, peers: readonly PeerFacts[]): void {
  const before = node.view
  const after = createPeerView(deps.mesh.book)
  for (const peer of peers) after.set(peer.node_id, chosen(deps, node, peer))
  keepTold(node, after)
  node.view = after
  if (!haveEpochsChanged(before, after)) return
  for (const peerId of deps.mesh.neighbours(node.place)) {
    const issued = after.find(peerId)?.psk_issued_at
    if (issued !== undefined && issued !== before?.find(peerId)?.psk_issued_at) fetchEdgeKeySoon(deps, node, peerId)
  }
  digestSoon(deps, node)
}

/** What to believe of a peer that is in the pull. */
function chosen({ statistics }: MeshAgentDeps, { view, pulling }: SimulatedNode, pulled: PeerFacts): PeerFacts {
  const known = view?.find(pulled.node_id)
  const facts = factsOf(pulled)
  if (known === undefined || known.psk_issued_at <= pulled.psk_issued_at) return facts
  if (!pulling.told.has(pulled.node_id)) statistics.count('epoch_regressions')
  const { public_key, psk_issued_at } = known
  return { ...facts, public_key, psk_issued_at }
}

/** A peer of which an event told while the answer was on its way may not be in it yet: the next pull says. */
function keepTold({ view, pulling }: SimulatedNode, after: PeerView): void {
  for (const peerId of pulling.told) {
    const known = view?.find(peerId)
    if (known !== undefined && after.find(peerId) === undefined) after.set(peerId, known)
  }
}

/** Only what is compared: pulls may say more of a peer. */
function factsOf({ node_id, public_key, mesh_address, endpoint, psk_issued_at }: PeerFacts): PeerFacts {
  return { node_id, public_key, mesh_address, endpoint, psk_issued_at }
}

/** Whether the set of edges, or the epoch of one, is another one. */
function haveEpochsChanged(before: PeerView | undefined, after: PeerView): boolean {
  if (before === undefined) return true
  const old = before.all()[Symbol.iterator]()
  for (const peer of after.all()) {
    const { value } = old.next()
    if (value?.node_id !== peer.node_id || value.psk_issued_at !== peer.psk_issued_at) return true
  }
  return old.next().done !== true
}
