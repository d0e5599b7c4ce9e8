import { Resolver } from 'node:dns/promises'
import type { ResolveName } from './guarded-lookup.ts'

export interface DnsNamesOptions {
  /** How long the first answer of a name server is waited for, ms; the second try waits longer. Default 2 s. */
  readonly timeoutMs?: number
  /** `host:port` of name servers that replace those of the system in tests. */
  readonly servers?: readonly string[]
}

const TIMEOUT_MS = 2_000
const TRIES = 2

/**
 * Makes a resolver that asks the name servers of the system itself, for names that strangers choose. `getaddrinfo` holds one of two
 * threads that all lookups of this process share, for as long as the name server of a stranger does not answer. Neither
 * `/etc/hosts` nor search domains are used. A name server of the system that changes is used from the next lookup on.
 */
export function createDnsNames({ timeoutMs = TIMEOUT_MS, servers }: DnsNamesOptions = {}): ResolveName {
  return async (hostname) => {
    // A resolver reads the settings of the system once, so one that lives longer would keep name servers that are gone.
    const resolver = new Resolver({ timeout: timeoutMs, tries: TRIES })
    if (servers !== undefined) resolver.setServers([...servers])
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const found = [...addressesOf(v4, 4), ...addressesOf(v6, 6)]
    // A name may have addresses of one family alone.
    if (found.length === 0 && v4.status === 'rejected') throw v4.reason
    return found
  }
}

function addressesOf(settled: PromiseSettledResult<readonly string[]>, family: 4 | 6) {
  return settled.status === 'fulfilled' ? settled.value.map((address) => ({ address, family })) : []
}
