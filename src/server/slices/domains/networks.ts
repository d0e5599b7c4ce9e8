import ipaddr from 'ipaddr.js'

/** All mesh addresses of all Domains come from here: RFC 6598 shared address space (decisions: Tenancy). */
export const MESH_RANGE = '100.64.0.0/10'

/** The networks of private addresses (RFC 1918, RFC 4193): those that bridges lead to unless a Domain says otherwise. */
export const PRIVATE_NETWORKS = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']

/** The longest prefix that still leaves two usable addresses. */
const MESH_PREFIX_MAX = 30

/** A prefix in plain decimal; without this the parser also takes `/08`. */
const PREFIX = /\/(?:0|[1-9]\d{0,2})$/

/** The IPv4 tail of an IPv6 address. */
const DOTTED_TAIL = /:([^:/.]*\.[^:/]*)\//

/**
 * Normalises a CIDR: IPv4 in four decimal parts, IPv6 as RFC 5952 writes it, host bits cleared, and networks of
 * IPv4-mapped addresses turned into IPv4, as client addresses are. Undefined for anything else: zones, octal, hexadecimal
 * or shortened IPv4, a missing prefix.
 */
export function normalizeCidr(text: string): string | undefined {
  if (!PREFIX.test(text)) return undefined
  if (ipaddr.IPv4.isValidCIDRFourPartDecimal(text)) return ipv4Network(...ipaddr.IPv4.parseCIDR(text))
  const tail = DOTTED_TAIL.exec(text)?.[1]
  if (tail !== undefined && !ipaddr.IPv4.isValidFourPartDecimal(tail)) return undefined
  if (text.includes('%') || !ipaddr.IPv6.isValidCIDR(text)) return undefined
  return ipv6Network(...ipaddr.IPv6.parseCIDR(text))
}

/** Normalises a Domain's mesh network; undefined unless it is inside 100.64.0.0/10 with a prefix of at most 30. */
export function normalizeMeshCidr(text: string): string | undefined {
  const network = normalizeCidr(text)
  if (network === undefined || !ipaddr.IPv4.isValidCIDR(network)) return undefined
  const [address, prefix] = ipaddr.IPv4.parseCIDR(network)
  const [range, rangePrefix] = ipaddr.IPv4.parseCIDR(MESH_RANGE)
  const isInside = prefix >= rangePrefix && prefix <= MESH_PREFIX_MAX && address.match(range, rangePrefix)
  return isInside ? network : undefined
}

function ipv4Network(address: ipaddr.IPv4, prefix: number): string {
  return `${ipaddr.IPv4.networkAddressFromCIDR(`${address.toString()}/${prefix}`).toString()}/${prefix}`
}

function ipv6Network(address: ipaddr.IPv6, prefix: number): string {
  if (address.isIPv4MappedAddress() && prefix >= 96) return ipv4Network(address.toIPv4Address(), prefix - 96)
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${prefix}`)
  return `${network.toRFC5952String()}/${prefix}`
}
