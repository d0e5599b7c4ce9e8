import ipaddr from 'ipaddr.js'

/** What the names of a server's certificate derive from. */
export interface NameSources {
  /** Origin under which clients reach the server, where it is configured. */
  readonly baseUrl: string | undefined
  /** Host of the address that the server listens on. */
  readonly listenHost: string
  /** Host name of the machine. */
  readonly hostName: string
  /** Addresses of the machine's interfaces, without zones. */
  readonly interfaceAddresses: readonly string[]
}

/** Upper bound for the names of one certificate: a machine with many interfaces has many addresses. */
const NAMES_MAX = 100
const DNS_NAME = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/
const WILDCARDS: Readonly<Record<string, readonly ('ipv4' | 'ipv6')[]>> = {
  '0.0.0.0': ['ipv4'],
  '::': ['ipv4', 'ipv6'],
}

/**
 * DNS names and IP addresses for which the server needs a certificate, sorted and unique: the host of the base URL, the
 * address that it listens on (for a wildcard every address of the machine), and the host name.
 */
export function certificateNames({ baseUrl, listenHost, hostName, interfaceAddresses }: NameSources): string[] {
  const families = WILDCARDS[listenHost]
  const listening = families === undefined ? [listenHost] : reachable(interfaceAddresses, families)
  const isLocal = families !== undefined || isLoopback(listenHost)
  const configured = baseUrl === undefined ? [] : [new URL(baseUrl).hostname]
  const all = [...configured, hostName, ...(isLocal ? ['localhost'] : []), ...listening]
  const names = new Set(all.map(normalized).filter((name) => name !== undefined))
  return [...names].slice(0, NAMES_MAX).toSorted()
}

/** Link-local addresses are left out: a URL cannot name their zone. */
function reachable(addresses: readonly string[], families: readonly string[]): string[] {
  return addresses.filter((text) => {
    const address = ipaddr.process(text)
    return families.includes(address.kind()) && address.range() !== 'linkLocal'
  })
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback')
}

/** The one spelling of a DNS name or an address; undefined for what no certificate can name. */
export function normalized(name: string): string | undefined {
  const bare = name.replace(/^\[|\]$/g, '').toLowerCase()
  if (isAddress(bare)) return ipaddr.process(bare).toString()
  return DNS_NAME.test(bare) ? bare : undefined
}

/** Whether the name is an IP address in its usual form. */
export function isAddress(name: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(name) || ipaddr.IPv6.isValid(name)
}
