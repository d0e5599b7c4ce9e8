import type { Logger } from 'pino'
import type { Rates } from '../../ports/rates.ts'
import type { LastUses } from '../../http/auth/last-uses.ts'
import type { Slice } from '../../http/slice.ts'
import type { Clock } from '../../ports/clock.ts'
import { createAssertionSweeper } from './assertion-sweeper.ts'
import { createAuthorizationServerMetadata } from './authorization-server-metadata.ts'
import type { OnRefreshFailure } from './bundle-endpoint.ts'
import { createBundleRefresher } from './bundle-refresher.ts'
import { createWorkloadLimits } from './limits.ts'
import { createWorkloads, type WorkloadsDeps } from './service.ts'

export { contents } from './contents.ts'
export { events } from './events.ts'

export interface WorkloadsPorts extends Omit<WorkloadsDeps, 'limits' | 'onRefreshFailure' | 'signIns'> {
  readonly clock: Clock
  readonly rates: Rates
  readonly log: Logger
  /** Every scope that a token may have. */
  readonly scopes: readonly string[]
  /** When service identities last authenticated. */
  readonly serviceSignIns: Pick<LastUses, 'note'>
}

/** Authentication of workloads without a shared secret, and the trust bundles for it. */
export function createSlice(ports: WorkloadsPorts): Slice<'serviceToken'> {
  const { datastore, outgoingFetch, clock, baseUrl, scopes, log } = ports
  const onFailure: OnRefreshFailure = (error, { domain_id: domainId, trust_domain: trustDomain }) =>
    log.warn({ err: error, domain_id: domainId, trust_domain: trustDomain }, 'a trust bundle could not be refreshed')
  return {
    handlers: {
      serviceToken: createWorkloads({
        ...ports,
        limits: createWorkloadLimits(ports.rates),
        signIns: ports.serviceSignIns,
        onRefreshFailure: onFailure,
      }),
    },
    pages: [createAuthorizationServerMetadata({ baseUrl, scopes })],
    jobs: [createAssertionSweeper({ clock }), createBundleRefresher({ datastore, clock, outgoingFetch, onFailure })],
  }
}
