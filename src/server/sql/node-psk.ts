import { randomBytes } from 'node:crypto'
import { formatPskIssuedAt } from '../../shared/mesh/psk-instant.ts'
import type { SealedPlace, Sealing } from '../ports/keyring.ts'
import type { Change } from '../ports/unit-of-work.ts'

/** Where the preshared key of a node is kept: the keys of its edges derive from it, and it never leaves the server. */
export function pskPlace(nodeId: string): SealedPlace {
  return { table: 'nodes', column: 'psk_sealed', rowId: nodeId }
}

/** Makes a preshared key of 32 bytes for a node and seals it. */
export async function sealFreshPsk(sealing: Sealing, nodeId: string): Promise<Buffer> {
  const psk = randomBytes(32)
  try {
    return await sealing.seal(pskPlace(nodeId), psk)
  } finally {
    psk.fill(0)
  }
}

/** Appends that a node's preshared key is new: its instant as pulls show it, never the key. */
export function announcePskAssigned(
  change: Change,
  { nodeId, domainId }: { readonly nodeId: string; readonly domainId: string },
  pskIssuedAtNs: bigint,
): void {
  const payload = { node_id: nodeId, psk_issued_at: formatPskIssuedAt(pskIssuedAtNs) }
  change.emit({ event: 'peer_psk_assigned', domainId, aggregate: `node:${nodeId}`, payload })
}
