import type { Logger } from 'pino'
import type { OnRefreshFailure } from '../slices/workloads/bundle-endpoint.ts'

/** Says why the keys of a trust bundle stay as they are. */
export function reportRefreshFailure(log: Logger): OnRefreshFailure {
  return (error, { domain_id: domainId, trust_domain: trustDomain }) =>
    log.warn({ err: error, domain_id: domainId, trust_domain: trustDomain }, 'a trust bundle could not be refreshed')
}
