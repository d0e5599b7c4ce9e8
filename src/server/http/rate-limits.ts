import ipaddr from 'ipaddr.js'
import { Problem, type ProblemCode } from '../../shared/problems.ts'
import type { Caller } from '../ports/credential-resolver.ts'
import type { OperationPlan } from './operation-plan.ts'
import { createTokenBuckets, type Rate, type TokenBuckets } from './token-buckets.ts'

/** One limit: the code of its 429, and its name in the header fields that go with it. */
interface LimitRow {
  readonly code: ProblemCode
  readonly policy: string
}

/** Every limit of the server (decisions: Rate limits). What each counts by is said where it is taken. */
const LIMITS = {
  failedCredentials: { code: 'rate_limited', policy: 'failed-credentials' },
  registrations: { code: 'rate_limited', policy: 'registrations' },
  node: { code: 'per_node_rate_limited', policy: 'node' },
  domain: { code: 'per_domain_rate_limited', policy: 'domain' },
  writes: { code: 'rate_limited', policy: 'writes' },
  reads: { code: 'rate_limited', policy: 'reads' },
} as const satisfies { readonly [name: string]: LimitRow }

export type LimitName = keyof typeof LIMITS

/** The rate of each limit. */
export type Rates = { readonly [Name in LimitName]: Rate }

/** Keys of one limit that are told apart; a bucket takes about 100 bytes. */
const KEYS_MAX = 131_072

/** The request rates of callers, per replica. */
export interface RateLimits {
  /** Counts a call of a known caller. @throws RateLimited when that caller has called too often. */
  take(plan: OperationPlan, caller: Caller, nowMs: number): void
  /** Counts a credential that did not resolve. @throws RateLimited when too many have come from that address. */
  takeFailure(address: string, nowMs: number): void
}

/**
 * A 429 with its header fields: `Retry-After` and, as draft-ietf-httpapi-ratelimit-headers-10 has them, `RateLimit-Policy`
 * and `RateLimit`. Answers that were let through carry none: setting them would cost more than the limit itself.
 */
export class RateLimited extends Problem {
  readonly headers: Readonly<Record<string, string>>

  constructor({ code, policy }: LimitRow, { count, seconds }: Rate, waitMs: number) {
    const wait = Math.max(1, Math.ceil(waitMs / 1000))
    super(code, { retry_after_seconds: wait }, undefined)
    this.headers = {
      'RateLimit-Policy': `"${policy}";q=${count};w=${seconds}`,
      RateLimit: `"${policy}";r=0;t=${wait}`,
    }
  }
}

/** Makes the limits. Synchronous, and nothing is allocated for a call that is let through. */
export function createRateLimits(rates: Rates): RateLimits {
  const node = limit('node', rates)
  const domain = limit('domain', rates)
  const registrations = limit('registrations', rates)
  const reads = limit('reads', rates)
  const writes = limit('writes', rates)
  const failedCredentials = limit('failedCredentials', rates)

  return {
    take({ limitClasses }, caller, nowMs) {
      const limitClass = limitClasses[caller.credential.kind]
      if (limitClass === 'read') reads(caller.subject, nowMs)
      else if (limitClass === 'write') writes(caller.subject, nowMs)
      else if (limitClass === 'registration') registrations(caller.credential.id, nowMs)
      else {
        node(caller.id, nowMs)
        domain(caller.domainId, nowMs)
      }
    },
    takeFailure: (address, nowMs) => failedCredentials(networkOf(address), nowMs),
  }
}

/** Takes one token of the key's bucket, or throws. */
function limit(name: LimitName, rates: Rates): (key: string, nowMs: number) => void {
  const rate = rates[name]
  if (rate.count === 0) return () => undefined
  const buckets: TokenBuckets = createTokenBuckets(rate, KEYS_MAX)
  return (key, nowMs) => {
    const waitMs = buckets.take(key, nowMs)
    if (waitMs > 0) throw new RateLimited(LIMITS[name], rate, waitMs)
  }
}

/** An IPv4 address itself; of IPv6 the /64, since one customer has at least that many. */
function networkOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address
  return ipaddr.IPv6.parse(address).parts.slice(0, 4).join(':')
}
