import { containsAddress, parseAddress, parseCidr, type Cidr } from '../../../shared/networks/cidr.ts'
import { agentError } from '../errors.ts'

/** The addresses of this machine that the mesh must leave alone. */
export interface MachineAddresses {
  /** The next hops of default routes. */
  readonly gateways: readonly string[]
  /** Addresses of the interfaces through which the default routes and the server are reached. */
  readonly uplinks: readonly string[]
  /** Addresses of all other interfaces than those of the node. */
  readonly others: readonly string[]
  /** Name servers that are reached through an uplink. */
  readonly resolvers: readonly string[]
  /** Addresses of the server. */
  readonly servers: readonly string[]
  /** Networks that this machine is connected to by other interfaces than those of the node, as CIDRs. */
  readonly connected: readonly string[]
}

/** The mesh as the agent accepts it. */
export interface MeshNetwork {
  /** Undefined where an older server does not say it. */
  readonly cidr: Cidr | undefined
  /** Canonical, IPv4. */
  readonly ownAddress: string
}

/** The largest network that an answer may give the mesh: that of 10.0.0.0/8. */
const SHORTEST_PREFIX = 8

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/

/** Whether a text is an IPv4 address in its one canonical spelling. */
export function isIpv4(text: string): boolean {
  return IPV4.test(text)
}

/**
 * Checks the mesh address and CIDR that a server answered. Nothing of this machine may be inside, because routes of peers would
 * then take away its network.
 *
 * @throws CliError that names what is wrong.
 */
export function acceptMeshNetwork(
  { address, cidr }: { readonly address: string; readonly cidr: string | undefined },
  machine: MachineAddresses,
): MeshNetwork {
  if (!isIpv4(address)) throw refused(`the mesh address ${address} is not an IPv4 address`)
  const network = cidr === undefined ? undefined : readNetwork(cidr)
  if (network !== undefined && !isInside(address, network))
    throw refused(`the mesh address ${address} is outside of the mesh, ${network.text}`)
  if (machine.others.includes(address))
    throw refused(`another interface of this machine has the mesh address ${address}`)
  if (network !== undefined) assertLeavesAlone(network, machine)
  return { cidr: network, ownAddress: address }
}

function readNetwork(text: string): Cidr {
  const read = parseCidr(text)
  if (!read.ok || read.cidr.text.includes(':')) throw refused(`the mesh CIDR ${text} is not an IPv4 network`)
  if (Number(read.cidr.text.split('/')[1]) < SHORTEST_PREFIX)
    throw refused(`the mesh CIDR ${read.cidr.text} is larger than a /${SHORTEST_PREFIX}`)
  return read.cidr
}

/** What this machine needs of its addresses, and what each is. */
export const NEEDED_ADDRESSES = [
  ['gateways', 'the gateway of a default route'],
  ['uplinks', 'an address of this machine'],
  ['resolvers', 'a name server of this machine'],
  ['servers', 'the server'],
] as const

function assertLeavesAlone(network: Cidr, machine: MachineAddresses): void {
  for (const [part, what] of NEEDED_ADDRESSES) {
    const found = machine[part].find((address) => isInside(address, network))
    if (found !== undefined) throw refused(`the mesh, ${network.text}, has ${what} in it: ${found}`)
  }
}

/** Whether the network has that address. */
export function isInside(address: string, network: Cidr): boolean {
  const words = parseAddress(address)
  return words !== undefined && containsAddress(network, words)
}

function refused(why: string) {
  return agentError('mesh_refused', `the server's answer is refused: ${why}`, {
    hints: [
      "The Domain's mesh_cidr must not overlap with networks of its nodes. Its administrator can choose another one.",
    ],
  })
}
