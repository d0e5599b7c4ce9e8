import type { nodeObservations } from '../../shared/contract/node-observations.ts'
import { problem } from '../../shared/problems.ts'
import type { Handlers } from '../http/request-context.ts'
import type { Datastore } from '../ports/datastore.ts'
import type { Change } from '../ports/unit-of-work.ts'
import { formatEndpoint } from '../rows/endpoint-text.ts'
import { parseEndpoint } from './endpoint-address.ts'
import { tellEndpoints } from './endpoint-news.ts'
import * as store from './endpoint-store.ts'
import { lockReportingNode } from './reporting-node.ts'
import { untimeliness } from './timeliness.ts'

/** Serves the endpoint intake: the last two of its six gates and its recorder (S0 Endpoint intake). The edge is the first four. */
export function createEndpoints({
  datastore,
}: {
  readonly datastore: Datastore
}): Pick<Handlers<typeof nodeObservations>, 'PutNodeEndpoint'> {
  return {
    async PutNodeEndpoint(ctx, { id, body }) {
      const ttlMs = await store.findTtl(datastore.pool('interactive'), id)
      if (ttlMs === undefined) throw problem('unauthorized')
      const reportedAtMs = Date.parse(body.reported_at)
      const untimely = untimeliness(reportedAtMs, { nowMs: ctx.nowMs, ttlMs })
      if (untimely !== undefined) {
        ctx.refusedFor(untimely)
        throw problem('endpoint_clock_skew')
      }
      const address = parseEndpoint(body.endpoint)
      if (address === undefined) throw problem('endpoint_unparseable')
      const report = { nodeId: id, ...address, natType: body.nat_type, reportedAtMs }
      const heldFromMs = await ctx.change((change) => record(change, report))
      return {
        accepted_at: new Date(ctx.nowMs).toISOString(),
        stale_after: new Date(heldFromMs + ttlMs).toISOString(),
      }
    },
  }
}

/**
 * Records a report, and tells the peers where it tells them something. One that is not newer than what is known, a
 * repeated or an overtaken one, changes nothing. Gives the instant of the newest report.
 *
 * @throws Problem `unauthorized` when the node is gone.
 */
async function record(change: Change, report: store.EndpointReport): Promise<number> {
  if (await store.refreshEndpoint(change.db, report)) return report.reportedAtMs
  const domainId = await lockReportingNode(change.db, report.nodeId)
  const known = await store.lockEndpoint(change.db, report.nodeId)
  if (known !== undefined && known.reportedAtMs >= report.reportedAtMs) return known.reportedAtMs
  await store.storeEndpoint(change.db, domainId, report)
  if (isNews(known, report))
    await tellEndpoints(change, domainId, [
      { nodeId: report.nodeId, endpoint: formatEndpoint(report.host, report.port) },
    ])
  return report.reportedAtMs
}

/** Whether peers see another endpoint by the report than before. */
function isNews(known: store.StoredEndpoint | undefined, { host, port }: store.EndpointReport): boolean {
  return known === undefined || known.isStale || known.host !== host || known.port !== port
}
