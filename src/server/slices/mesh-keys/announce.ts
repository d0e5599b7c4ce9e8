import type { Change } from '../../ports/unit-of-work.ts'

/** The node that an event is about. */
export interface About {
  readonly nodeId: string
  readonly domainId: string
}

/** Appends the event that asks a node to rotate its keys. Only that node receives it. */
export function announceRotateKeys(change: Change, about: About, rotationId: string): void {
  const payload = { node_id: about.nodeId, rotation_id: rotationId }
  change.emit({ event: 'rotate_keys', ...whereOf(about), payload })
}

/** Appends the event that the node has a new public key. */
export function announceKeyRotated(change: Change, about: About, publicKey: Buffer): void {
  const payload = { node_id: about.nodeId, public_key: publicKey.toString('base64') }
  change.emit({ event: 'peer_key_rotated', ...whereOf(about), payload })
}

function whereOf({ nodeId, domainId }: About): { domainId: string; aggregate: string } {
  return { domainId, aggregate: `node:${nodeId}` }
}
