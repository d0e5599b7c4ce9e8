import ipaddr from 'ipaddr.js'

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')
/** RFC 6052: in IPv6-only networks, names of IPv4 hosts resolve into this prefix. */
const TRANSLATED = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

/**
 * Whether an address is one of the public internet. Special-purpose addresses are not: private, loopback,
 * link-local, shared, multicast, documentation, tunnels, IPv4 embedded in IPv6 (the registries of RFC 6890).
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.parse(text)
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast'
  if (address.match(TRANSLATED)) return isPublicAddress(address.toByteArray().slice(12).join('.'))
  return address.range() === 'unicast' && address.match(GLOBAL_UNICAST)
}
