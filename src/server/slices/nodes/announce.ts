import type { Change } from '../../ports/unit-of-work.ts'
import type { RemovedNode } from './node-store.ts'

/** A node as it is announced to its peers. */
export interface Peer {
  readonly nodeId: string
  readonly domainId: string
}

/** Appends the event that a node was registered, or enrolled again with a new key. */
export function announceRegistered(
  change: Change,
  peer: Peer,
  facts: { name: string; meshAddress: string; publicKey: Buffer },
): void {
  const payload = {
    node_id: peer.nodeId,
    name: facts.name,
    mesh_address: facts.meshAddress,
    public_key: facts.publicKey.toString('base64'),
  }
  change.emit({ event: 'peer_registered', ...whereOf(peer), payload })
}

/** Appends the events that a node has another name, for its peers and for the node itself. */
export function announceRenamed(change: Change, peer: Peer, name: string): void {
  change.emit({ event: 'peer_renamed', ...whereOf(peer), payload: { node_id: peer.nodeId, name } })
  change.emit({ event: 'node_renamed', ...whereOf(peer), payload: { node_id: peer.nodeId } })
}

/** Appends the event that a node was deregistered, with what decided which peers saw it. */
export function announceDeregistered(
  change: Change,
  peer: Peer,
  { name, mesh_address, groups, policy_ids }: Omit<RemovedNode, 'domain_id'>,
): void {
  const payload = { node_id: peer.nodeId, name, former: { mesh_address, groups, policy_ids } }
  change.emit({ event: 'peer_deregistered', ...whereOf(peer), payload })
}

function whereOf({ nodeId, domainId }: Peer): { domainId: string; aggregate: string } {
  return { domainId, aggregate: `node:${nodeId}` }
}
