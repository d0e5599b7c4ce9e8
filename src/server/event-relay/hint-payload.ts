import { canonicalPayload } from '../../shared/events/envelope.ts'
import { PEERS_INLINE_MAX, type GroupChange, type PeerChange, type StateBlock } from '../../shared/events/wire-types.ts'
import type { MergedChanges } from './peer-changes.ts'

/** What changed for one node since its last hint. */
export interface PendingChanges {
  /** Undefined if more changed than a hint lists. */
  readonly peers: MergedChanges | undefined
  readonly ownBlocks: readonly StateBlock[]
}

/**
 * The canonical payload of the node's hint. Undefined if nothing changed for this node, or only its own entry as a
 * peer.
 */
export function hintPayload(nodeId: string, { peers, ownBlocks }: PendingChanges): string | undefined {
  const others = peers === undefined ? undefined : othersOf(nodeId, peers)
  const isOfPeers = others === undefined || others.peers.length + others.groups.length > 0
  if (!isOfPeers && ownBlocks.length === 0) return undefined
  const named = new Set<StateBlock>(ownBlocks)
  if (isOfPeers) named.add('peers')
  const blocks = [...named].toSorted()
  if (others === undefined || others.peers.length > PEERS_INLINE_MAX)
    return canonicalPayload({ reason: 'resync', blocks, peers: [] })
  const groups = others.groups.length > 0 && { groups: others.groups }
  return canonicalPayload({ reason: 'changed', blocks, peers: others.peers, ...groups })
}

interface Listed {
  readonly peers: readonly PeerChange[]
  readonly groups: readonly GroupChange[]
}

/** The changes of other peers. Those of groups may name the node itself: lanes share them, and an agent ignores its own id. */
function othersOf(nodeId: string, { peers, groups }: MergedChanges): Listed {
  return {
    peers: Array.from(peers.values())
      .filter(({ node_id }) => node_id !== nodeId)
      .toSorted((a, b) => (a.node_id < b.node_id ? -1 : 1)),
    groups: Array.from(groups.values())
      .map(({ group, added, removed }) => ({ group, added: added.toSorted(), removed: removed.toSorted() }))
      .filter(({ added, removed }) => added.length + removed.length > 0)
      .toSorted((a, b) => a.group - b.group),
  }
}
