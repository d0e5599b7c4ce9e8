import ipaddr from 'ipaddr.js'
import { Problem, type RetryableCode } from '../../../shared/problems.ts'
import type { Caller } from '../../ports/credential-resolver.ts'
import type { OperationPlan } from '../operation-plan.ts'
import type { LimitName, Rate, Rates } from '../../ports/rates.ts'
import { createTokenBuckets, type TokenBuckets } from './token-buckets.ts'

/** One limit: the code of its 429, and its name in the header fields that go with it. */
interface LimitRow {
  readonly code: RetryableCode
  readonly policy: string
}

/** Every limit of the server (decisions: Rate limits). Each place that takes one defines its key. */
const LIMITS = {
  failedCredentials: { code: 'rate_limited', policy: 'failed-credentials' },
  signIn: { code: 'rate_limited', policy: 'sign-in' },
  serviceTokens: { code: 'rate_limited', policy: 'service-tokens' },
  registrations: { code: 'rate_limited', policy: 'registrations' },
  node: { code: 'per_node_rate_limited', policy: 'node' },
  domain: { code: 'per_domain_rate_limited', policy: 'domain' },
  writes: { code: 'rate_limited', policy: 'writes' },
  reads: { code: 'rate_limited', policy: 'reads' },
} as const satisfies { readonly [Name in LimitName]: LimitRow }

export const NO_LIMIT: Rate = { count: 0, seconds: 1 }

/** Keys of one limit that have their own bucket; a bucket takes about 100 bytes. */
const KEYS_MAX = 131_072

/** The request rates of callers, per replica. */
export interface RateLimits {
  /** Counts a call of an operation that counts by address. @throws RateLimited when too many came from that address. */
  takeAddress(plan: OperationPlan, sourceAddress: string, nowMs: number): void
  /** Counts a visit of a page that counts by address. @throws RateLimited when too many came from that address. */
  takeVisit(sourceAddress: string, nowMs: number): void
  /** Counts a call of a known caller. @throws RateLimited when that caller has called too often. */
  take(plan: OperationPlan, caller: Caller, nowMs: number): void
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
  const node = createLimit('node', rates.node)
  const domain = createLimit('domain', rates.domain)
  const registrations = createLimit('registrations', rates.registrations)
  const reads = createLimit('reads', rates.reads)
  const writes = createLimit('writes', rates.writes)
  const signIn = createLimit('signIn', rates.signIn)

  return {
    takeAddress({ operation }, sourceAddress, nowMs) {
      if (operation.perAddress === true) signIn.take(networkOf(sourceAddress), nowMs)
    },
    takeVisit(sourceAddress, nowMs) {
      signIn.take(networkOf(sourceAddress), nowMs)
    },
    take({ limitClasses }, caller, nowMs) {
      const limitClass = limitClasses[caller.credential.kind]
      if (limitClass === 'read') reads.take(caller.subject, nowMs)
      else if (limitClass === 'write') writes.take(caller.subject, nowMs)
      else if (limitClass === 'registration') registrations.take(caller.credential.id, nowMs)
      else {
        node.take(caller.id, nowMs)
        domain.take(caller.domainId, nowMs)
      }
    },
  }
}

/** One limit at work. */
export interface Limit {
  /** Takes one token of the key's bucket; the refusal where there is none. */
  over(key: string, nowMs: number): RateLimited | undefined
  /** As `take`, but throws the refusal. */
  take(key: string, nowMs: number): void
  /** Reserves one token for an event that may not happen. False where there is none. */
  reserve(key: string, nowMs: number): boolean
  /** Puts a reserved token back. */
  giveBack(key: string): void
}

/** Creates one limit for calls that the edge cannot count, because only a handler knows the caller. */
export function createLimit(name: LimitName, rate: Rate): Limit {
  const buckets = rate.count === 0 ? UNLIMITED : createTokenBuckets(rate, KEYS_MAX)
  function over(key: string, nowMs: number): RateLimited | undefined {
    const waitMs = buckets.take(key, nowMs)
    return waitMs > 0 ? new RateLimited(LIMITS[name], rate, waitMs) : undefined
  }
  return {
    over,
    take(key, nowMs) {
      const refusal = over(key, nowMs)
      if (refusal !== undefined) throw refusal
    },
    reserve: (key, nowMs) => buckets.take(key, nowMs) === 0,
    giveBack: (key) => buckets.giveBack(key),
  }
}

const UNLIMITED: TokenBuckets = { take: () => 0, giveBack: () => undefined }

/** The key of calls without a known caller: an IPv4 address itself; the /64 of an IPv6 address, since one customer has at least a /64. */
export function networkOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address
  return ipaddr.IPv6.parse(address).parts.slice(0, 4).join(':')
}
