import { formatEndpoint } from '../../sql/endpoint-text.ts'
import { formatPskIssuedAt } from '../../../shared/mesh/psk-instant.ts'
import type { Segment } from './peer-list.ts'

/** A node as its peers see it. */
export interface Peer {
  readonly nodeId: string
  /** A slug. */
  readonly name: string
  readonly meshAddress: string
  /** Padded base64. */
  readonly publicKey: string
  readonly pskIssuedAtNs: bigint
  /** Its endpoint; null while none is known or fresh. */
  readonly host: string | null
  readonly port: number | null
  /** Further addresses, `host:port`. */
  readonly candidates: readonly string[]
  /** The policy groups that it is in, ascending. */
  readonly groups: readonly number[]
  /** Where the relay of its edges is reached, `host:port`; empty where there is none. */
  readonly fallback: string
  /** Networks that its peers reach through it, sorted. */
  readonly subnets: readonly string[]
}

/** A peer's canonical JSON (RFC 8785): members in order; only endpoints may need escapes. */
export function renderPeer(peer: Peer): Segment {
  const { fallback, candidates, subnets } = peer
  const members = [
    ...(candidates.length === 0 ? [] : [`"candidates":${JSON.stringify(candidates)}`]),
    `"endpoint":${JSON.stringify(formatEndpoint(peer.host, peer.port))}`,
    ...(fallback === '' ? [] : [`"fallback_endpoint":${JSON.stringify(fallback)}`]),
    `"groups":[${peer.groups.join(',')}]`,
    `"mesh_address":"${peer.meshAddress}"`,
    `"name":"${peer.name}"`,
    `"node_id":"${peer.nodeId}"`,
    `"psk_issued_at":"${formatPskIssuedAt(peer.pskIssuedAtNs)}"`,
    `"public_key":"${peer.publicKey}"`,
    ...(subnets.length === 0 ? [] : [`"subnets":${JSON.stringify(subnets)}`]),
  ]
  return { nodeId: peer.nodeId, bytes: Buffer.from(`{${members.join(',')}}`) }
}
