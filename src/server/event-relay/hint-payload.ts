import { canonicalPayload } from '../../shared/events/envelope.ts'
import { PEERS_INLINE_MAX, type PeerChange, type StateBlock } from '../../shared/events/wire-types.ts'

/** What has changed for one node since it was last told. */
export interface News {
  /** By node id; undefined where more peers changed than are told apart. */
  readonly peers: ReadonlyMap<string, PeerChange> | undefined
  readonly ownBlocks: readonly StateBlock[]
}

/** The canonical payload of the node's hint; undefined where nothing changed but the node itself in the eyes of its peers. */
export function hintFor(nodeId: string, { peers, ownBlocks }: News): string | undefined {
  const others =
    peers === undefined ? undefined : Array.from(peers.values()).filter(({ node_id }) => node_id !== nodeId)
  if (others?.length === 0 && ownBlocks.length === 0) return undefined
  const blocks = new Set<StateBlock>(ownBlocks)
  if (others === undefined || others.length > 0) blocks.add('peers')
  const isTold = others !== undefined && others.length <= PEERS_INLINE_MAX
  return canonicalPayload({
    reason: isTold ? 'changed' : 'resync',
    blocks: [...blocks].toSorted(),
    peers: isTold ? others.toSorted((a, b) => (a.node_id < b.node_id ? -1 : 1)) : [],
  })
}
