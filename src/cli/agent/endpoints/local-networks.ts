import { networkInterfaces, type NetworkInterfaceInfo } from 'node:os'
import { parseCidr, type Cidr } from '../../../shared/networks/cidr.ts'
import { isInside } from '../server-answers/mesh-network.ts'
import type { LocalNetwork } from './candidates.ts'
import { formatEndpoint, isUsableHost } from './endpoint-address.ts'

/** Candidates that the server takes (agent protocol: Endpoint). */
const CANDIDATES_MAX = 8

/**
 * The networks that this machine is in, without loopback, link-local ones and those of the agent's own interfaces: members reach a
 * network of a bridge through the mesh, so that an address in it is no way to the tunnel.
 */
export function localNetworks(
  isOwn: (interfaceName: string) => boolean,
  interfaces: NodeJS.Dict<readonly NetworkInterfaceInfo[]> = networkInterfaces(),
): readonly LocalNetwork[] {
  const others = Object.entries(interfaces).filter(([name]) => !isOwn(name))
  return others.flatMap(([, infos = []]) =>
    infos.flatMap(({ address, netmask, internal, cidr }) => {
      const network = cidr === null || internal ? undefined : networkOf(address, netmask, cidr)
      return network === undefined || !isCandidate(address) ? [] : [{ address, cidr: network }]
    }),
  )
}

/** The further addresses at which peers may reach the tunnel, `address:port`, those of IPv4 first. None is inside of the mesh. */
export function localCandidates(
  networks: readonly LocalNetwork[],
  { port, mesh }: { readonly port: number; readonly mesh: Cidr | undefined },
): readonly string[] {
  const hosts = networks.map(({ address }) => address).filter((host) => mesh === undefined || !isInside(host, mesh))
  const sorted = hosts.toSorted((one, other) => Number(one.includes(':')) - Number(other.includes(':')))
  return [...new Set(sorted.map((host) => formatEndpoint({ host, port })))].slice(0, CANDIDATES_MAX)
}

/** A link-local address needs a zone, which means another link on each machine. */
function isCandidate(address: string): boolean {
  return !/^fe[89ab][\da-f]:|^169\.254\.|%/i.test(address) && isUsableHost(address)
}

/** The network of an address, whose host bits are not zero. */
function networkOf(address: string, netmask: string, cidr: string): Cidr | undefined {
  const length = cidr.slice(cidr.indexOf('/') + 1)
  const host = parseCidr(`${address}/${address.includes(':') ? 128 : 32}`)
  const mask = parseCidr(`${netmask}/${netmask.includes(':') ? 128 : 32}`)
  if (!host.ok || !mask.ok) return undefined
  const masks = mask.cidr.words
  const words = host.cidr.words.map((word, index) => (word & (masks[index] ?? 0)) >>> 0)
  return { words, masks, text: `${address}/${length}` }
}
