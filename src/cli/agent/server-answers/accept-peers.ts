import type { PeerFacts } from '../../../client/agent/peers/peer-book.ts'
import { parseEndpoint } from '../endpoints/endpoint-address.ts'
import { isInside, isIpv4, type MeshNetwork } from './mesh-network.ts'

/** What peers are held against. */
export interface PeerTerms extends MeshNetwork {
  /** The node's own public key, in base64. */
  readonly ownPublicKey: string
  /** Addresses that this machine uses otherwise: its own, its gateways, name servers and the server. */
  readonly taken: ReadonlySet<string>
}

/** The peers that the agent takes, and why it does not take the others. */
export interface AcceptedPeers {
  readonly peers: readonly PeerFacts[]
  /** By node id. */
  readonly refused: ReadonlyMap<string, string>
}

/** An agent carries this many peers at most; beyond it the first ones by node id. */
export const PEERS_MAX = 10_000

/**
 * Takes the peers of the server that can do no harm. Of peers that share an address or a public key none is taken, since nothing
 * says which one is right.
 */
export function acceptPeers(given: readonly PeerFacts[], terms: PeerTerms): AcceptedPeers {
  const refused = new Map<string, string>()
  const shared = { addresses: repeated(given, 'mesh_address'), keys: repeated(given, 'public_key') }
  const peers: PeerFacts[] = []
  for (const peer of given) {
    const why = peers.length >= PEERS_MAX ? `there are more than ${PEERS_MAX} peers` : faultOf(peer, terms, shared)
    if (why === undefined) peers.push({ ...peer, endpoint: usableEndpoint(peer.endpoint, terms) })
    else refused.set(peer.node_id, why)
  }
  return { peers, refused }
}

interface Shared {
  readonly addresses: ReadonlySet<string>
  readonly keys: ReadonlySet<string>
}

const KEY = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/

function faultOf(peer: PeerFacts, terms: PeerTerms, { addresses, keys }: Shared): string | undefined {
  const { mesh_address: address, public_key: key } = peer
  if (!isIpv4(address)) return 'its address is not an IPv4 address'
  if (!KEY.test(key)) return 'its public key is not 32 bytes in base64'
  if (address === terms.ownAddress || key === terms.ownPublicKey) return "it has this node's own address or public key"
  if (terms.cidr !== undefined && !isInside(address, terms.cidr))
    return `its address ${address} is outside of the mesh, ${terms.cidr.text}`
  if (terms.taken.has(address)) return `this machine uses its address ${address} otherwise`
  if (addresses.has(address)) return `another peer has its address ${address}`
  return keys.has(key) ? 'another peer has its public key' : undefined
}

function repeated(peers: readonly PeerFacts[], member: 'mesh_address' | 'public_key'): ReadonlySet<string> {
  const [once, twice] = [new Set<string>(), new Set<string>()]
  for (const { [member]: value } of peers) (once.has(value) ? twice : once).add(value)
  return twice
}

/** An endpoint that the tunnel can use; empty for any other text, and for one inside of the mesh, which would lead into itself. */
function usableEndpoint(endpoint: string, { cidr }: MeshNetwork): string {
  const host = parseEndpoint(endpoint)?.host
  if (host === undefined) return ''
  return cidr !== undefined && isInside(host, cidr) ? '' : endpoint
}
