import { readIp, type IpRoute } from '../../doctor/read-ip.ts'
import type { MachineAddresses, MeshNetwork } from '../../server-answers/mesh-network.ts'
import { machineAddresses, type MachineQuery } from '../../system/machine-addresses.ts'

/** What a tunnel must leave alone. */
export interface Surroundings {
  readonly mesh: MeshNetwork
  readonly machine: Pick<MachineAddresses, 'gateways' | 'uplinks' | 'resolvers' | 'servers'>
  /** Networks that this machine is connected to by other interfaces than the agent's, as CIDRs. */
  readonly connected: readonly string[]
}

/** Reads them. `isOwn`: whether an interface is the agent's. @throws CliError where `ip` is not installed. */
export async function readSurroundings(
  query: MachineQuery,
  mesh: MeshNetwork,
  isOwn: (interfaceName: string) => boolean,
): Promise<Surroundings> {
  const [machine, routes] = await Promise.all([machineAddresses(query), connectedRoutes(query)])
  const connected = routes.flatMap(({ dst = '', dev = '' }) => (dst.includes('/') && !isOwn(dev) ? [dst] : []))
  return { mesh, machine, connected }
}

/** Those that the kernel makes for the addresses of interfaces. */
async function connectedRoutes({ run }: MachineQuery): Promise<readonly IpRoute[]> {
  const families = ['-4', '-6'].map((family) => readIp<IpRoute>(run, [family, 'route', 'show', 'proto', 'kernel']))
  return (await Promise.all(families)).flat()
}
