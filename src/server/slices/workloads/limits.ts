import type { Rates } from '../../ports/rates.ts'
import { createLimit, networkOf, type RateLimited } from '../../http/limits/rate-limits.ts'

/** How often workloads may ask for tokens, per replica (decisions: Rate limits). */
export interface WorkloadLimits {
  /** Counts a successful proof of an identity, so that nobody else can use up its calls. @throws RateLimited */
  takeIdentity(id: string, nowMs: number): void
  /** Counts an assertion that proved nothing; the answer where too many came from the address. */
  overAddress(sourceAddress: string, nowMs: number): RateLimited | undefined
}

export function createWorkloadLimits(rates: Pick<Rates, 'serviceTokens' | 'failedCredentials'>): WorkloadLimits {
  const identity = createLimit('serviceTokens', rates.serviceTokens)
  const failed = createLimit('failedCredentials', rates.failedCredentials)
  return {
    takeIdentity: (id, nowMs) => identity.take(id, nowMs),
    overAddress: (sourceAddress, nowMs) => failed.over(networkOf(sourceAddress), nowMs),
  }
}
