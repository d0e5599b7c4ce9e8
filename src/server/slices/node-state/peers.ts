import { formatEndpoint } from '../../sql/endpoint-text.ts'
import { formatPskIssuedAt } from '../../../shared/mesh/psk-instant.ts'
import type { Segment } from './peer-list.ts'

/** A node as its peers see it. */
export interface Peer {
  readonly nodeId: string
  readonly meshAddress: string
  /** Padded base64. */
  readonly publicKey: string
  readonly pskIssuedAtNs: bigint
  /** Where it was seen last; null while that is not known or stale. */
  readonly host: string | null
  readonly port: number | null
  /** Where the relay was seen that would carry its edges; null where there is none. */
  readonly fallbackHost: string | null
  readonly fallbackPort: number | null
}

/** A peer's canonical JSON (RFC 8785): members in order, and nothing in them but an endpoint that could need escapes. */
export function renderPeer(peer: Peer): Segment {
  const fallback = formatEndpoint(peer.fallbackHost, peer.fallbackPort)
  const members = [
    `"endpoint":${JSON.stringify(formatEndpoint(peer.host, peer.port))}`,
    ...(fallback === '' ? [] : [`"fallback_endpoint":${JSON.stringify(fallback)}`]),
    `"mesh_address":"${peer.meshAddress}"`,
    `"node_id":"${peer.nodeId}"`,
    `"psk_issued_at":"${formatPskIssuedAt(peer.pskIssuedAtNs)}"`,
    `"public_key":"${peer.publicKey}"`,
  ]
  return { nodeId: peer.nodeId, bytes: Buffer.from(`{${members.join(',')}}`) }
}
