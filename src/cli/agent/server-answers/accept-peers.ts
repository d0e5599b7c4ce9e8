import type { PeerFacts } from '../../../client/agent/peers/peer-book.ts'
import { parseCidr, type Cidr } from '../../../shared/networks/cidr.ts'
import { isUsableHost, parseEndpoint } from '../endpoints/endpoint-address.ts'
import { createSubnetGate, type SubnetGate } from './accept-subnets.ts'
import { isInside, isIpv4, type MeshNetwork } from './mesh-network.ts'
import type { Surroundings } from './subnet-fault.ts'

/** What peers are held against. */
export interface PeerTerms extends MeshNetwork {
  /** The node's own public key, in base64. */
  readonly ownPublicKey: string
  /** Addresses that this machine uses otherwise: its own, its gateways, name servers and the server. */
  readonly taken: ReadonlySet<string>
  /** What routes to peers must leave alone. */
  readonly machine: Surroundings['machine']
  /** Subnets of tunnels that this node hosts itself. */
  readonly hosted: readonly string[]
}

/** The peers that the agent takes, and why it does not take the others. */
export interface AcceptedPeers {
  readonly peers: readonly PeerFacts[]
  /** By node id. */
  readonly refused: ReadonlyMap<string, string>
  /** Subnets of peers that are not routed, `<node id> <subnet>`, with the reason. */
  readonly refusedSubnets: ReadonlyMap<string, string>
}

/** An agent carries this many peers at most; beyond it the first ones by node id. */
export const PEERS_MAX = 10_000

/**
 * Takes the peers of the server that can do no harm. Of peers that share an address or a public key none is taken, since nothing
 * says which one is right. A peer whose endpoint, candidate or subnet is refused is taken without it.
 */
export function acceptPeers(given: readonly PeerFacts[], terms: PeerTerms): AcceptedPeers {
  const [refused, refusedSubnets] = [new Map<string, string>(), new Map<string, string>()]
  const { cidr, ownAddress, machine, hosted } = terms
  const gate = createSubnetGate({ mesh: { cidr, ownAddress }, machine, hosted })
  const shared = { addresses: repeated(given, 'mesh_address'), keys: repeated(given, 'public_key') }
  const peers: PeerFacts[] = []
  for (const peer of given) {
    const why = peers.length >= PEERS_MAX ? `there are more than ${PEERS_MAX} peers` : faultOf(peer, terms, shared)
    if (why === undefined) peers.push(withoutHarm(peer, terms, { gate, refused: refusedSubnets }))
    else refused.set(peer.node_id, why)
  }
  return { peers, refused, refusedSubnets }
}

/** Candidates of one peer that are tried. */
const CANDIDATES_MAX = 8

function withoutHarm(given: PeerFacts, terms: PeerTerms, { gate, refused }: Gate): PeerFacts {
  const { fallback_endpoint: relay = '', ...peer } = given
  const subnets = gate.take(peer.subnets, (subnet, why) => refused.set(`${peer.node_id} ${subnet}`, why))
  const routed = [...(terms.cidr === undefined ? [] : [terms.cidr]), ...subnets.flatMap(networkOf)]
  const candidates = peer.candidates.map((candidate) => usableEndpoint(candidate, routed))
  const fallback = usableEndpoint(relay, routed)
  return {
    ...peer,
    ...(fallback !== '' && { fallback_endpoint: fallback }),
    endpoint: usableEndpoint(peer.endpoint, routed),
    candidates: candidates.filter((candidate) => candidate !== '').slice(0, CANDIDATES_MAX),
    subnets,
  }
}

function networkOf(subnet: string): readonly Cidr[] {
  const read = parseCidr(subnet)
  return read.ok ? [read.cidr] : []
}

interface Gate {
  readonly gate: SubnetGate
  /** Gets what is refused. */
  readonly refused: Map<string, string>
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

/**
 * An endpoint that the tunnel can use; empty for any other text, for one on this machine or of a group, and for one in a network that is
 * routed to the peer, which would lead into the tunnel itself, without end.
 */
function usableEndpoint(endpoint: string, routed: readonly Cidr[]): string {
  const host = parseEndpoint(endpoint)?.host
  if (host === undefined || !isUsableHost(host)) return ''
  return routed.some((network) => isInside(host, network)) ? '' : endpoint
}
