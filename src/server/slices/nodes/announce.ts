import type { Change } from '../../ports/unit-of-work.ts'

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

/** Appends the event that a node was deregistered. */
export function announceDeregistered(change: Change, peer: Peer, name: string): void {
  change.emit({ event: 'peer_deregistered', ...whereOf(peer), payload: { node_id: peer.nodeId, name } })
}

function whereOf({ nodeId, domainId }: Peer): { domainId: string; aggregate: string } {
  return { domainId, aggregate: `node:${nodeId}` }
}
