import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'

/** Finds out a client's address behind proxies that are trusted. */
export type ClientAddress = (peer: string | undefined, forwardedFor: string | undefined) => string

/** The client's address of a request. Node joins forwarding headers that are sent several times, in their order. */
export function forwardedAddress(
  clientAddress: ClientAddress,
  { headers, socket }: Pick<FastifyRequest, 'headers' | 'socket'>,
): string {
  const forwardedFor = headers['x-forwarded-for']
  return clientAddress(socket.remoteAddress, typeof forwardedFor === 'string' ? forwardedFor : undefined)
}

const HOPS_MAX = 32

/**
 * The rightmost hop that is no trusted proxy. Forwarded hops count only when the peer itself is trusted; a hop that is
 * no address ends the search at the proxy that reported it. Mapped IPv4 addresses read as IPv4.
 *
 * @throws Error naming the entry when a network is malformed.
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const isTrusted = trustIn(trustedProxies)
  const directOf = remembering((peer) => normalized(peer) ?? 'unknown')
  return (peer = '', forwardedFor) => {
    const direct = directOf(peer)
    if (trustedProxies.length === 0 || forwardedFor === undefined || direct === 'unknown' || !isTrusted(direct))
      return direct
    let client = direct
    for (const hop of forwardedFor.split(',').slice(-HOPS_MAX).toReversed()) {
      const address = normalized(hop.trim())
      if (address === undefined) return client
      client = address
      if (!isTrusted(client)) return client
    }
    return client
  }
}

/** Whether a request came over TLS: to this server, or to a trusted proxy that sends `X-Forwarded-Proto: https`. */
export type IsSecure = (peer: string | undefined, isTls: boolean, forwardedProto: string | undefined) => boolean

/** @throws Error naming the entry when a network is malformed. */
export function createIsSecure(trustedProxies: readonly string[]): IsSecure {
  const isTrusted = trustIn(trustedProxies)
  return (peer = '', isTls, forwardedProto) => {
    if (isTls || forwardedProto?.trim().toLowerCase() !== 'https' || trustedProxies.length === 0) return isTls
    const direct = normalized(peer)
    return direct !== undefined && isTrusted(direct)
  }
}

function trustIn(networks: readonly string[]): (address: string) => boolean {
  const trusted = networks.map(parseNetwork)
  return (address) => {
    const parsed = ipaddr.process(address)
    return trusted.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits))
  }
}

/** Maximum of cached peer addresses; the cache is cleared when it is full. */
const REMEMBERED_MAX = 10_000

/** Parsing an address costs more than the rest of the lookup, and each peer sends many requests. */
function remembering(normalize: (peer: string) => string): (peer: string) => string {
  const known = new Map<string, string>()
  return (peer) => {
    const seen = known.get(peer)
    if (seen !== undefined) return seen
    if (known.size >= REMEMBERED_MAX) known.clear()
    const address = normalize(peer)
    known.set(peer, address)
    return address
  }
}

function parseNetwork(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  try {
    return ipaddr.parseCIDR(text)
  } catch (error) {
    throw new Error(`${text} is not a network such as 10.0.0.0/8`, { cause: error })
  }
}

function normalized(address: string): string | undefined {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : undefined
}
