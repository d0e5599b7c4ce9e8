import type { serviceToken } from '../../../shared/contract/service-token.ts'
import type { Handlers } from '../../http/request-context.ts'
import { createServiceToken, type ServiceTokenDeps } from './service-token.ts'
import { createTrustBundles, type TrustBundlesDeps } from './trust-bundles.ts'

export type WorkloadsDeps = ServiceTokenDeps & TrustBundlesDeps

/** Serves tokens for workloads without a shared secret, and the trust bundles of Domains. */
export function createWorkloads(deps: WorkloadsDeps): Handlers<typeof serviceToken> {
  return { ...createServiceToken(deps), ...createTrustBundles(deps) }
}
