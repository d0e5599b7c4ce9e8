import type { nodes } from '../../../shared/contract/nodes.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { SAMPLE_INTERVAL_MS, SAMPLES_KEPT_MS } from './reachability-sampler.ts'
import { readSamples } from './samples-store.ts'

type HistoryHandlers = Pick<Handlers<typeof nodes>, 'GetDomainReachabilityHistory'>

/** The period of a query that names no beginning, ms. */
const PERIOD_MS = 24 * 3_600_000

/** Serves how the reachability of the nodes of a Domain developed. */
export function createReachabilityHistory({ datastore }: { readonly datastore: Datastore }): HistoryHandlers {
  return {
    async GetDomainReachabilityHistory(ctx, { id: domainId, ...asked }) {
      const { since, until } = periodOf(asked, ctx.nowMs)
      const samples = await readSamples(datastore.pool('interactive'), { domainId, since, until })
      if (samples === undefined) throw problem('domain_not_found')
      return {
        domain_id: domainId,
        interval_seconds: SAMPLE_INTERVAL_MS / 1000,
        since: since.toISOString(),
        until: until.toISOString(),
        samples: samples.map(({ at, ...counts }) => ({ at: at.toISOString(), ...counts })),
      }
    },
  }
}

interface AskedPeriod {
  readonly since?: string | undefined
  readonly until?: string | undefined
}

/**
 * Reads the period of a query, within the time that samples are kept.
 * @throws Problem `invalid_reachability_filter` where nothing is left of it.
 */
function periodOf(asked: AskedPeriod, nowMs: number): { readonly since: Date; readonly until: Date } {
  const sinceMs = asked.since === undefined ? nowMs - PERIOD_MS : Date.parse(asked.since)
  const since = new Date(Math.max(sinceMs, nowMs - SAMPLES_KEPT_MS))
  const until = new Date(asked.until === undefined ? nowMs : Math.min(Date.parse(asked.until), nowMs))
  if (since >= until) throw problem('invalid_reachability_filter')
  return { since, until }
}
