import type { SeenPeer } from '../../../client/agent/reports/observed-endpoints.ts'
import type { PeerStatus } from '../device/device.ts'
import { hasSession } from '../device/session-age.ts'
import type { PlacedEndpoint } from '../tunnel/plan-tunnel.ts'
import { formatEndpoint, isUsableHost, parseEndpoint } from './endpoint-address.ts'

/** A peer of the mesh, and what the device has for it. */
export interface PresentPeer {
  readonly nodeId: string
  readonly status: PeerStatus
  /** The endpoint that was last set for it; undefined where the device had one of its own. */
  readonly placed: PlacedEndpoint | undefined
}

/** What decides whether an address is that of the peer. */
export interface SeenTerms {
  readonly nowMs: number
  readonly isRelay: (endpoint: string) => boolean
}

/** The peers whose packets come from a known address, which is not a relay's: what the server may give to others. */
export function seenEndpoints(peers: readonly PresentPeer[], { nowMs, isRelay }: SeenTerms): readonly SeenPeer[] {
  return peers.flatMap(({ nodeId, status, placed }) => {
    const address = status.endpoint === undefined ? undefined : parseEndpoint(status.endpoint)
    const isSeen = hasSession(status, nowMs) && hasAnswered(status, placed)
    if (address === undefined || !isSeen || !isUsableHost(address.host)) return []
    const endpoint = formatEndpoint(address)
    return isRelay(endpoint) ? [] : [{ peerId: nodeId, endpoint }]
  })
}

/** Whether the endpoint of the device is that of a packet, and not one that was set and has not answered yet. */
function hasAnswered({ endpoint, receivedBytes }: PeerStatus, placed: PlacedEndpoint | undefined): boolean {
  return placed === undefined || endpoint !== placed.endpoint || receivedBytes !== placed.receivedBytes
}
