import ipaddr from 'ipaddr.js'
import { isIP } from 'node:net'

/** An address and a port of the underlay. */
export interface EndpointAddress {
  /** Canonical, without brackets; an IPv4-mapped IPv6 address is the IPv4 one. */
  readonly host: string
  readonly port: number
}

const HOST_AND_PORT = /^(?:\[([\da-f:.]+)\]|([\d.]+)):([1-9]\d{0,4})$/i

/** Ranges that the server takes in no report (agent protocol: Endpoint). */
const UNUSABLE: ReadonlySet<string> = new Set(['loopback', 'unspecified', 'broadcast', 'multicast'])
/** Ranges that nothing outside of a site reaches without a translation. */
const LOCAL: ReadonlySet<string> = new Set(['private', 'linkLocal', 'carrierGradeNat', 'uniqueLocal'])

/** Reads `address:port`, an IPv6 address in brackets. Undefined for another text, so for an address with a zone. */
export function parseEndpoint(text: string): EndpointAddress | undefined {
  const [, bracketed, bare, digits] = HOST_AND_PORT.exec(text) ?? []
  const address = bracketed ?? bare ?? ''
  const port = Number(digits)
  if (isIP(address) !== (bracketed === undefined ? 4 : 6) || port > 65_535) return undefined
  return { host: ipaddr.process(address).toString(), port }
}

/** Writes what `parseEndpoint` reads. */
export function formatEndpoint({ host, port }: EndpointAddress): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`
}

/** Whether another machine could send there. */
export function isUsableHost(host: string): boolean {
  return !UNUSABLE.has(ipaddr.parse(host).range())
}

/** Whether only machines of the same site can send there first. A packet filter may still keep others from a public address. */
export function isLocalHost(host: string): boolean {
  return LOCAL.has(ipaddr.parse(host).range())
}

/** Whether two texts are the same address and port. */
export function isSameEndpoint(one: string, other: string): boolean {
  const [a, b] = [parseEndpoint(one), parseEndpoint(other)]
  return one === other || (a !== undefined && a.host === b?.host && a.port === b.port)
}
