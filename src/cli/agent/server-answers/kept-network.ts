import { machineAddresses, type MachineQuery } from '../system/machine-addresses.ts'
import { acceptMeshNetwork, type MachineAddresses, type MeshNetwork } from './mesh-network.ts'

/** The mesh address and CIDR of a node, as its server gives them; older servers leave the CIDR out. */
interface GivenNetwork {
  readonly mesh_address: string
  readonly mesh_cidr?: string | undefined
}

/** The mesh network of the node, as the server gave it last and as this machine can have it. */
export interface KeptNetwork {
  now(): MeshNetwork
  /** What routes must leave alone. */
  machine(): MachineAddresses
  /** Addresses that no peer may have, because this machine uses them otherwise. */
  taken(): ReadonlySet<string>
  /** Takes what the server gives now. @throws CliError where it is refused; what held before stays. */
  take(given: GivenNetwork): Promise<void>
}

/** Reads the addresses of this machine and checks the network. @throws CliError where it is refused. */
export async function keepNetwork(
  query: MachineQuery,
  { mesh_address, mesh_cidr }: GivenNetwork,
): Promise<KeptNetwork> {
  let machine = await machineAddresses(query)
  let network = acceptMeshNetwork({ address: mesh_address, cidr: mesh_cidr }, machine)
  return {
    now: () => network,
    machine: () => machine,
    taken: () => new Set([...machine.others, ...machine.gateways, ...machine.resolvers, ...machine.servers]),
    async take({ mesh_address: address, mesh_cidr: cidr }) {
      machine = await machineAddresses(query)
      network = acceptMeshNetwork({ address, cidr }, machine)
    },
  }
}
