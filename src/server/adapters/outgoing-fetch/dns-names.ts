import { Resolver } from 'node:dns/promises'
import type { ResolveName } from './guarded-lookup.ts'

export interface DnsNamesOptions {
  /** How long the first answer of a name server is waited for, ms. */
  readonly timeoutMs?: number
  /** `host:port` of name servers that replace those of the system in tests. */
  readonly servers?: readonly string[]
}

/** The first of two waits; the second is longer, and both together are shorter than the 15 s of a delivery. */
const TIMEOUT_MS = 2_000
const TRIES = 2

/**
 * Makes a resolver that asks name servers itself, for names that strangers choose. `getaddrinfo` holds one of two threads that all
 * lookups of this process share, for as long as the name server of a stranger does not answer. `/etc/hosts` is not read.
 */
export function createDnsNames({ timeoutMs = TIMEOUT_MS, servers }: DnsNamesOptions = {}): ResolveName {
  const resolver = new Resolver({ timeout: timeoutMs, tries: TRIES })
  if (servers !== undefined) resolver.setServers([...servers])
  return async (hostname) => {
    // A name may have addresses of one family alone.
    const later = resolver.resolve6(hostname).then(
      (found) => found.map((address) => ({ address, family: 6 })),
      () => [],
    )
    try {
      const found = await resolver.resolve4(hostname)
      return [...found.map((address) => ({ address, family: 4 })), ...(await later)]
    } catch (error) {
      const found = await later
      if (found.length > 0) return found
      throw error
    }
  }
}
