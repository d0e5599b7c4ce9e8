import { isPeerAddress, readPeerSubnet } from '../../../../shared/bridges/peer-subnet.ts'
import { privateKeyIn } from '../../../../client/agent/keys/wireguard-key.ts'
import { keyOfBase64 } from '../../device/keys.ts'
import type { WantedUserAccess } from '../wanted-parts.ts'

/** A user-access provider that this machine can run. Each text was checked. */
export interface Provider {
  readonly slug: string
  readonly interfaceName: string
  readonly listenPort: number
  /** 32 bytes. */
  readonly privateKey: Uint8Array
  /** Undefined: it has no peers. */
  readonly subnet: string | undefined
  readonly peers: readonly ProviderPeer[]
}

/** A device that may connect. */
export interface ProviderPeer {
  /** In base64. */
  readonly publicKey: string
  /** IPv4, in the subnet. */
  readonly address: string
}

/** A provider, or why this machine does not run it: a sentence without a secret. */
export type ReadProvider = { readonly provider: Provider } | { readonly fault: string }

const INTERFACE_NAME = /^[a-z][a-z0-9_.-]{0,14}$/
/** Names by which the kernel has settings of all interfaces: forwarding would be set for the whole machine. */
const OF_ALL = ['all', 'default']

/** Checks what a configuration wants. */
export function readProvider(wanted: WantedUserAccess): ReadProvider {
  const { slug, kind, interface_name: interfaceName, listen_port: listenPort, secret, peer_subnet: subnet } = wanted
  if (kind !== 'wireguard') return { fault: `the kind ${JSON.stringify(kind)} is not supported by this agent` }
  if (!INTERFACE_NAME.test(interfaceName) || OF_ALL.includes(interfaceName))
    return { fault: 'its interface has a name that no interface may have' }
  if (secret === undefined) return { fault: 'its secret could not be fetched' }
  const privateKey = privateKeyIn(secret)
  if (privateKey === undefined)
    return { fault: 'its secret is not a private key of WireGuard: 32 bytes in base64, as "wg genkey" prints them' }
  const fault = subnetFault(subnet) ?? peersFault(wanted)
  if (fault !== undefined) return { fault }
  const peers = (wanted.peers ?? []).map(({ public_key: publicKey, address }) => ({ publicKey, address }))
  return { provider: { slug, interfaceName, listenPort, privateKey, subnet, peers } }
}

function subnetFault(subnet: string | undefined): string | undefined {
  if (subnet === undefined) return undefined
  const read = readPeerSubnet(subnet)
  return read.ok && read.text === subnet ? undefined : 'its subnet for peers is malformed'
}

function peersFault({ peers = [], peer_subnet: subnet, max_peers: max }: WantedUserAccess): string | undefined {
  if (peers.length > max) return `it has ${peers.length} peers and admits ${max}`
  const isSound = peers.every(
    ({ public_key: key, address }) =>
      keyOfBase64(key) !== undefined && subnet !== undefined && isPeerAddress(subnet, address),
  )
  if (!isSound) return 'a peer has a malformed key, or an address outside of the subnet'
  const isOnce = new Set(peers.flatMap(({ public_key: key, address }) => [key, address])).size === 2 * peers.length
  return isOnce ? undefined : 'two peers share a key or an address'
}
