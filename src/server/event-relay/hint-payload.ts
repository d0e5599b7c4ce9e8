import { canonicalPayload } from '../../shared/events/envelope.ts'
import { PEERS_INLINE_MAX, type PeerChange, type StateBlock } from '../../shared/events/wire-types.ts'

/** What changed for one node since its last hint. */
export interface PendingChanges {
  /** By node id; undefined if too many peers changed to list them. */
  readonly peers: ReadonlyMap<string, PeerChange> | undefined
  readonly ownBlocks: readonly StateBlock[]
}

/**
 * The canonical payload of the node's hint. Undefined if nothing changed for this node, or only its own entry as a
 * peer.
 */
export function hintPayload(nodeId: string, { peers, ownBlocks }: PendingChanges): string | undefined {
  const others =
    peers === undefined ? undefined : Array.from(peers.values()).filter(({ node_id }) => node_id !== nodeId)
  if (others?.length === 0 && ownBlocks.length === 0) return undefined
  const blocks = new Set<StateBlock>(ownBlocks)
  if (others === undefined || others.length > 0) blocks.add('peers')
  const isInline = others !== undefined && others.length <= PEERS_INLINE_MAX
  return canonicalPayload({
    reason: isInline ? 'changed' : 'resync',
    blocks: [...blocks].toSorted(),
    peers: isInline ? others.toSorted((a, b) => (a.node_id < b.node_id ? -1 : 1)) : [],
  })
}
