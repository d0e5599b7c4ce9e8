import type { PeerFacts } from './peer-book.ts'
import { createPeerView, type PeerView } from './peer-view.ts'
import type { Member } from '../member.ts'
import type { AgentDeps, MemberDeps } from '../agent-deps.ts'
import { fetchEdgeKeySoon, fetchEdgeKeysSoon, forgetEdge } from '../keys/edge-key.ts'
import { digestSoon } from '../keys/epoch-report.ts'

/**
 * Applies the peers of a pull, which are complete at the time of the answer. The node's earlier facts can be newer only for
 * peers that an event changed during the pull. Any other older epoch is refused.
 */
export function applyPulledPeers<M extends Member>(deps: MemberDeps<M>, node: M, pulled: PeerView): void {
  const isFirst = node.view === undefined
  const before = node.view ?? createPeerView(deps.mesh.book)
  let hasEpochChange = isFirst
  node.view = pulled
  const differences = pulled.differing(before)
  for (const { own, other } of differences) {
    if (resolveDifference(deps, node, { pulled: own, known: other })) hasEpochChange = true
  }
  if (hasEpochChange) takeEpochChanges(deps, node, { pulled, before, isFirst })
  if (isFirst || differences.length > 0) deps.actions.peersChanged(node)
}

interface EpochChanges {
  readonly pulled: PeerView
  readonly before: PeerView
  readonly isFirst: boolean
}

/** Fetches the keys of the edges whose peers have a new half. */
function takeEpochChanges<M extends Member>(
  deps: MemberDeps<M>,
  node: M,
  { pulled, before, isFirst }: EpochChanges,
): void {
  const changed = deps.actions.edgesOf(node).filter((peerId) => {
    const issued = pulled.find(peerId)?.psk_issued_at
    return issued !== undefined && issued !== before.find(peerId)?.psk_issued_at
  })
  if (isFirst) fetchEdgeKeysSoon(deps, node, changed)
  else for (const peerId of changed) fetchEdgeKeySoon(deps, node, peerId)
  digestSoon(deps, node)
}

interface Difference {
  readonly pulled: PeerFacts | undefined
  readonly known: PeerFacts | undefined
}

/** Resolves a difference between the pulled and the known facts of a peer. Returns whether its epoch changed. */
function resolveDifference(
  { statistics }: Pick<AgentDeps, 'statistics'>,
  node: Member,
  { pulled, known }: Difference,
): boolean {
  const { view, pulling } = node
  if (known === undefined) return pulled !== undefined
  const isChangedMeanwhile = pulling.changedPeers.has(known.node_id)
  if (pulled === undefined) {
    // An event added it during the pull, so the answer may be older. The next pull decides.
    if (isChangedMeanwhile) view?.set(known.node_id, known)
    else forgetEdge(node, known.node_id)
    return !isChangedMeanwhile
  }
  if (known.psk_issued_at <= pulled.psk_issued_at) return known.psk_issued_at !== pulled.psk_issued_at
  if (!isChangedMeanwhile) statistics.count('epoch_regressions')
  const { public_key, psk_issued_at } = known
  view?.set(known.node_id, { ...pulled, public_key, psk_issued_at })
  return false
}
