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
function resolveDifference(deps: Pick<AgentDeps, 'statistics'>, node: Member, difference: Difference): boolean {
  const { pulled, known } = difference
  const isChangedMeanwhile = node.pulling.changedPeers.has((pulled ?? known)?.node_id ?? '')
  return isChangedMeanwhile ? keepEvent(node, difference) : takePulled(deps, node, difference)
}

/** Keeps what an event has brought during the pull, because the answer may be older. The next pull decides. */
function keepEvent({ view, pulling }: Member, { pulled, known }: Difference): boolean {
  if (known === undefined) {
    const isRemoved = pulled !== undefined && pulling.removedPeers.has(pulled.node_id)
    if (isRemoved) view?.set(pulled.node_id, undefined)
    return !isRemoved
  }
  const isPulledNewer = pulled !== undefined && pulled.psk_issued_at > known.psk_issued_at
  const { public_key, psk_issued_at } = isPulledNewer ? pulled : known
  view?.set(known.node_id, { ...known, public_key, psk_issued_at })
  return isPulledNewer
}

/** Takes what the answer has. An older epoch is refused. */
function takePulled(
  { statistics }: Pick<AgentDeps, 'statistics'>,
  node: Member,
  { pulled, known }: Difference,
): boolean {
  if (known === undefined) return true
  if (pulled === undefined) {
    forgetEdge(node, known.node_id)
    return true
  }
  if (known.psk_issued_at <= pulled.psk_issued_at) return known.psk_issued_at !== pulled.psk_issued_at
  statistics.count('epoch_regressions')
  const { public_key, psk_issued_at } = known
  node.view?.set(known.node_id, { ...pulled, public_key, psk_issued_at })
  return false
}
