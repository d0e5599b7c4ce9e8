import type { Device } from '../../device/device.ts'
import type { MeshApplier } from '../../tunnel/mesh-applier.ts'
import type { RelayPeer } from './relay-peers.ts'

/** What is read of a machine. */
export interface PeersOfMachine {
  readonly device: Pick<Device, 'status'>
  readonly applier: Pick<MeshApplier, 'accepted'>
}

/** The peers of the mesh, with where the tunnel of this machine sees them before where the server has them. */
export async function relayPeersOf({ device, applier }: PeersOfMachine): Promise<readonly RelayPeer[]> {
  const { peers } = await device.status()
  const seen = new Map(peers.map(({ publicKey, endpoint }) => [publicKey, endpoint]))
  return applier
    .accepted()
    .peers.map(({ node_id: nodeId, public_key: publicKey, endpoint, fallback_endpoint: fallback }) => ({
      nodeId,
      publicKey,
      endpoints: [...new Set([seen.get(publicKey) ?? '', endpoint])].filter((text) => text !== ''),
      fallback,
    }))
}
