import ipaddr from 'ipaddr.js'

/** Finds out a client's address behind proxies that are trusted. */
export type ClientAddress = (peer: string | undefined, forwardedFor: string | undefined) => string

const HOPS_MAX = 32

/**
 * The rightmost hop that is no trusted proxy. Forwarded hops count only when the peer itself is trusted; a hop that is
 * no address ends the search at the proxy that reported it. Mapped IPv4 addresses read as IPv4.
 *
 * @throws Error naming the entry when a network is malformed.
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trusted = trustedProxies.map(parseNetwork)
  const isTrusted = (address: string): boolean => {
    const parsed = ipaddr.process(address)
    return trusted.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits))
  }
  return (peer, forwardedFor) => {
    const direct = normalized(peer ?? '') ?? 'unknown'
    if (trusted.length === 0 || forwardedFor === undefined || direct === 'unknown' || !isTrusted(direct)) return direct
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
