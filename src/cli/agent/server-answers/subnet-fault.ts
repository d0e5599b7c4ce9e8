import { isWithin, overlaps, readSubnet, spanOf } from '../../../shared/bridges/subnet.ts'
import { parseCidr } from '../../../shared/networks/cidr.ts'
import { isInside, NEEDED_ADDRESSES, type MachineAddresses, type MeshNetwork } from './mesh-network.ts'

/** What routes must leave alone, those into a tunnel and those to a peer. */
export interface Surroundings {
  readonly mesh: MeshNetwork
  readonly machine: Omit<MachineAddresses, 'others'>
}

/** The largest networks that a tunnel may lead to: 10.0.0.0/8 and fc00::/7. Half of all addresses is a default route, too. */
const SHORTEST_PREFIX = { 4: 8, 6: 7 } as const

/** Why this machine must not route these subnets into a tunnel, or to a peer; undefined where it may. */
export function subnetFault(subnets: readonly string[], around: Surroundings): string | undefined {
  if (subnets.length === 0) return 'it has no subnet'
  for (const subnet of subnets) {
    const fault = formFault(subnet) ?? meshFault(subnet, around) ?? machineFault(subnet, around)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** A network as the server writes it; nothing else becomes part of a route or a rule. */
function formFault(subnet: string): string | undefined {
  const read = readSubnet(subnet)
  if (!read.ok || read.text !== subnet) return `${JSON.stringify(subnet.slice(0, 64))} is not a subnet`
  const shortest = SHORTEST_PREFIX[spanOf(subnet).family]
  if (Number(subnet.split('/')[1]) >= shortest) return undefined
  return `the subnet ${subnet} is larger than a /${shortest}`
}

function meshFault(subnet: string, { mesh: { cidr, ownAddress } }: Surroundings): string | undefined {
  const mesh = cidr?.text ?? `${ownAddress}/32`
  return overlaps(spanOf(subnet), spanOf(mesh)) ? `the subnet ${subnet} overlaps with the mesh, ${mesh}` : undefined
}

function machineFault(subnet: string, { machine }: Surroundings): string | undefined {
  for (const [part, what] of NEEDED_ADDRESSES) {
    const found = machine[part].find((address) => covers(subnet, address))
    if (found !== undefined) return `the subnet ${subnet} has ${what} in it: ${found}`
  }
  const network = machine.connected.find((other) => isWithin(spanOf(subnet), spanOf(other)))
  return network === undefined ? undefined : `the subnet ${subnet} is part of ${network}, a network of this machine`
}

/** Whether the subnet has that address. */
export function covers(subnet: string, address: string): boolean {
  const read = parseCidr(subnet)
  return read.ok && isInside(address, read.cidr)
}
