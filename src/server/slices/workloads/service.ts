import type { serviceToken } from '../../../shared/contract/service-token.ts'
import type { Handlers } from '../../http/request-context.ts'
import { createServiceToken, type ServiceTokenDeps } from './service-token.ts'
import { createTrustBundles, type TrustBundlesDeps } from './trust-bundles.ts'

export type WorkloadsDeps = ServiceTokenDeps & TrustBundlesDeps

/** Serves workloads that have no secret to share, and what their Domains believe of them. */
export function createWorkloads(deps: WorkloadsDeps): Handlers<typeof serviceToken> {
  return { ...createServiceToken(deps), ...createTrustBundles(deps) }
}
