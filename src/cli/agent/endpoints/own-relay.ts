import { networkInterfaces } from 'node:os'
import type { PeerFacts } from '../../../client/agent/peers/peer-book.ts'
import { parseEndpoint } from './endpoint-address.ts'

/** What this machine relays, and for whom. */
export interface OwnRelays {
  /** UDP ports on which it does. */
  readonly ports: ReadonlySet<number>
  readonly peers: readonly PeerFacts[]
}

/**
 * Whether that relay is this machine, which is no way for its own packets. Behind a NAT that forwards the port it has the address from
 * none of its interfaces; then the relay is another node only where a peer has its address.
 */
export function isOwnRelay(endpoint: string, { ports, peers }: OwnRelays): boolean {
  const address = parseEndpoint(endpoint)
  if (address === undefined || !ports.has(address.port)) return false
  const locals = Object.values(networkInterfaces()).flatMap((infos = []) => infos.map((info) => info.address))
  return locals.includes(address.host) || !peers.some((peer) => parseEndpoint(peer.endpoint)?.host === address.host)
}
