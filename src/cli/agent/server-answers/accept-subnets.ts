import { overlaps, readSubnet, spanOf } from '../../../shared/bridges/subnet.ts'
import { parseCidr, type Cidr } from '../../../shared/networks/cidr.ts'
import { isInside } from './mesh-network.ts'

/** What the subnets of peers are held against. */
export interface SubnetTerms {
  /** Undefined where the server does not say it; then no subnet is taken. */
  readonly cidr: Cidr | undefined
  /** Addresses that this machine uses: its own, its gateways, name servers and the server. */
  readonly taken: ReadonlySet<string>
  /** Subnets of tunnels that this node hosts itself. They are reached there, and not through a peer. */
  readonly hosted: readonly string[]
}

/** The largest network that is routed to a peer. */
const SHORTEST_PREFIX = 8
/** Subnets of all peers together. */
const SUBNETS_MAX = 4_096

/** Takes subnets of one peer after another. */
export interface SubnetGate {
  /** The subnets of a peer that this machine can route to it. `refuse` gets each other one, and why. */
  take(subnets: readonly string[], refuse: (subnet: string, why: string) => void): readonly string[]
}

/** Makes the gate for one list of peers. A subnet that an earlier peer has is refused: WireGuard would move it back and forth. */
export function createSubnetGate(terms: SubnetTerms): SubnetGate {
  const claimed = new Set<string>()

  function isUsable(subnet: string, refuse: (subnet: string, why: string) => void): boolean {
    const why = claimed.has(subnet) ? 'another peer has it' : faultOf(subnet, terms)
    const isTooMany = claimed.size >= SUBNETS_MAX
    if (why !== undefined) refuse(subnet, why)
    else if (isTooMany) refuse(subnet, `there are more than ${SUBNETS_MAX} subnets`)
    return why === undefined && !isTooMany
  }

  return {
    take(subnets, refuse) {
      const others = subnets.filter((subnet) => !isHosted(subnet, terms))
      const usable = others.filter((subnet) => isUsable(subnet, refuse))
      for (const subnet of usable) claimed.add(subnet)
      return usable
    },
  }
}

function isHosted(subnet: string, { hosted }: SubnetTerms): boolean {
  if (hosted.length === 0 || !parseCidr(subnet).ok) return false
  const span = spanOf(subnet)
  return hosted.some((other) => overlaps(spanOf(other), span))
}

function faultOf(subnet: string, { cidr: mesh, taken }: SubnetTerms): string | undefined {
  const read = parseCidr(subnet)
  if (!read.ok || read.cidr.text !== subnet || !readSubnet(subnet).ok) return 'it is no network that can be routed'
  if (subnet.includes(':')) return 'the mesh carries IPv4 alone'
  if (Number(subnet.split('/')[1]) < SHORTEST_PREFIX) return `it is larger than a /${SHORTEST_PREFIX}`
  if (mesh === undefined || overlaps(spanOf(mesh.text), spanOf(subnet))) return 'it overlaps the mesh'
  const inside = [...taken].find((address) => isInside(address, read.cidr))
  return inside === undefined ? undefined : `this machine uses ${inside}, which is in it`
}
