import ipaddr from 'ipaddr.js'
import { isIPv4, isIPv6 } from 'node:net'

/** The public address of a node. */
export interface EndpointAddress {
  /** IPv4 dotted, or IPv6 as RFC 5952 writes it, without brackets. One text for each address. */
  readonly host: string
  readonly port: number
}

const HOST_AND_PORT = /^(?:\[([0-9A-Fa-f:.]+)\]|([0-9.]+)):([1-9][0-9]{0,4})$/

/** Addresses that no peer can reach, or that mean another host for each peer. */
const UNUSABLE: ReadonlySet<string> = new Set(['loopback', 'unspecified', 'broadcast', 'multicast'])

/**
 * Reads the `host:port` of S0 EndpointRequest. The host must be an address: a name could resolve to
 * loopback, or to different places for different peers. An IPv4-mapped IPv6 address counts as its IPv4 address;
 * so does one that a translator or a 6to4 relay maps to an IPv4 address.
 * Undefined for any other text, for ports outside of 1..65535, and for loopback, unspecified, broadcast and
 * multicast addresses.
 */
export function parseEndpoint(text: string): EndpointAddress | undefined {
  const [, bracketed, bare, digits] = HOST_AND_PORT.exec(text) ?? []
  const port = Number(digits)
  const address = bracketed === undefined ? ipv4(bare ?? '') : ipv6(bracketed)
  if (address === undefined || isUnusable(address) || !(port <= 65_535)) return undefined
  return { host: address.toString(), port }
}

function isUnusable(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (UNUSABLE.has(address.range())) return true
  const at = address instanceof ipaddr.IPv6 ? EMBEDDING[address.range()] : undefined
  return at !== undefined && UNUSABLE.has(new ipaddr.IPv4(address.toByteArray().slice(at, at + 4)).range())
}

/** Ranges whose addresses embed IPv4 ones (RFC 6052 §2.1, RFC 6145 §2.2, RFC 3056 §2), and at which byte those are in them. */
const EMBEDDING: Readonly<Record<string, number>> = { rfc6052: 12, rfc6145: 12, '6to4': 2 }

/** The library alone would read `010.1`, too. */
function ipv4(text: string): ipaddr.IPv4 | undefined {
  return isIPv4(text) ? ipaddr.IPv4.parse(text) : undefined
}

function ipv6(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (!isIPv6(text)) return undefined
  const address = ipaddr.IPv6.parse(text.replace(DOTTED, hexGroups))
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  return isIpv4Compatible(address) ? undefined : address
}

const DOTTED = /(?<!\d)(\d+)\.(\d+)\.(\d+)\.(\d+)$/

/** The last 32 bits in hexadecimal: of `::192.0.2.1`, which is no mapped address, the library would make one. */
function hexGroups(_dotted: string, ...bytes: readonly string[]): string {
  const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number)
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
}

/** RFC 4291 §2.5.5.1: deprecated and unreachable. The unspecified and the loopback address are in it, too. */
function isIpv4Compatible({ parts }: ipaddr.IPv6): boolean {
  return parts.slice(0, 6).every((part) => part === 0)
}

/** Ranges that lead somewhere else, or nowhere, from another site. */
const LOCAL: ReadonlySet<string> = new Set(['private', 'linkLocal', 'carrierGradeNat', 'uniqueLocal'])

/** Whether only hosts of the same site reach the address. Takes the host of a parsed endpoint. */
export function isLocalHost(host: string): boolean {
  return LOCAL.has(ipaddr.parse(host).range())
}

/** Whether the address means another host on each link. Takes the host of a parsed endpoint. */
export function isLinkLocalHost(host: string): boolean {
  return ipaddr.parse(host).range() === 'linkLocal'
}
