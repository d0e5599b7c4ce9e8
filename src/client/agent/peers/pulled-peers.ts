import type { PeerFacts } from './peer-book.ts'
import { createPeerView, type PeerView } from './peer-view.ts'
import type { Member } from '../member.ts'
import type { AgentDeps, MemberDeps } from '../agent-deps.ts'
import { fetchEdgeKeySoon } from '../keys/edge-key.ts'
import { digestSoon } from '../keys/epoch-report.ts'

/**
 * Applies the peers of a pull, which are complete at the time of the answer. The node's earlier facts can be newer only for
 * peers that an event changed during the pull. Any other older epoch is refused.
 */
export function applyPulledPeers<M extends Member>(deps: MemberDeps<M>, node: M, pulled: PeerView): void {
  const before = node.view ?? createPeerView(deps.mesh.book)
  let hasEpochChange = node.view === undefined
  node.view = pulled
  for (const { own, other } of pulled.differing(before)) {
    if (resolveDifference(deps, node, { pulled: own, known: other })) hasEpochChange = true
  }
  if (!hasEpochChange) return
  for (const peerId of deps.actions.edgesOf(node)) {
    const issued = pulled.find(peerId)?.psk_issued_at
    if (issued !== undefined && issued !== before.find(peerId)?.psk_issued_at) fetchEdgeKeySoon(deps, node, peerId)
  }
  digestSoon(deps, node)
}

interface Difference {
  readonly pulled: PeerFacts | undefined
  readonly known: PeerFacts | undefined
}

/** Resolves a difference between the pulled and the known facts of a peer. Returns whether its epoch changed. */
function resolveDifference(
  { statistics }: Pick<AgentDeps, 'statistics'>,
  { view, pulling }: Member,
  { pulled, known }: Difference,
): boolean {
  if (known === undefined) return pulled !== undefined
  const isChangedMeanwhile = pulling.changedPeers.has(known.node_id)
  if (pulled === undefined) {
    // An event added it during the pull, so the answer may be older. The next pull decides.
    if (isChangedMeanwhile) view?.set(known.node_id, known)
    return !isChangedMeanwhile
  }
  if (known.psk_issued_at <= pulled.psk_issued_at) return known.psk_issued_at !== pulled.psk_issued_at
  if (!isChangedMeanwhile) statistics.count('epoch_regressions')
  const { public_key, psk_issued_at } = known
  view?.set(known.node_id, { ...pulled, public_key, psk_issued_at })
  return false
}
