import { isRemoteHost } from '../../../../../shared/bridges/remote-host.ts'
import { parseAddress } from '../../../../../shared/networks/cidr.ts'
import { formatEndpoint, isUsableHost } from '../../../endpoints/endpoint-address.ts'
import { isInside, type MeshNetwork } from '../../../server-answers/mesh-network.ts'
import type { AddressLookup } from '../../../sessions/address-lookup.ts'
import { covers } from '../../../server-answers/subnet-fault.ts'
import type { Tunnel } from '../tunnel-driver.ts'

/** Where the other end of a tunnel is, as far as it is known. */
export interface RemoteEnd {
  /** Each `address:port`. None: the name cannot be resolved now. */
  readonly endpoints: readonly string[]
  /** Why none of the addresses can be used; undefined where one can, or where there is none. */
  readonly fault: string | undefined
}

/** Resolves the other end. An address that the tunnel itself or the mesh leads to is left out: packets would go in a circle. */
export async function findRemoteEnd(tunnel: Tunnel, mesh: MeshNetwork, lookup: AddressLookup): Promise<RemoteEnd> {
  const { remote_host: host, remote_port: port, allowed_subnets: subnets } = tunnel
  if (!isRemoteHost(host)) return { endpoints: [], fault: 'its remote_host is no host name and no IP address' }
  const addresses = parseAddress(host) === undefined ? await lookup(host) : [host]
  const isUsed = (address: string): boolean =>
    isUsableHost(address) &&
    !subnets.some((subnet) => covers(subnet, address)) &&
    !(mesh.cidr !== undefined && isInside(address, mesh.cidr))
  const endpoints = addresses.filter(isUsed).map((address) => formatEndpoint({ host: address, port }))
  const isRefused = addresses.length > 0 && endpoints.length === 0
  return {
    endpoints,
    fault: isRefused ? `its other end ${host} is inside of its subnets, of the mesh or of this machine` : undefined,
  }
}
