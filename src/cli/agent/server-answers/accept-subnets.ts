import { overlaps, spanOf } from '../../../shared/bridges/subnet.ts'
import { parseCidr } from '../../../shared/networks/cidr.ts'
import { subnetFault, type Surroundings } from './subnet-fault.ts'

/** What the subnets of peers are held against. */
export interface SubnetTerms extends Surroundings {
  /** Subnets of tunnels that this node hosts itself. They are reached there, and not through a peer. */
  readonly hosted: readonly string[]
}

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

/** Without the network of the mesh nothing says which subnets are part of it. */
function faultOf(subnet: string, terms: SubnetTerms): string | undefined {
  if (terms.mesh.cidr === undefined) return 'the network of the mesh is not known'
  return subnetFault([subnet], terms) ?? (subnet.includes(':') ? 'the mesh carries IPv4 alone' : undefined)
}
