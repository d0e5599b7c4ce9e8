import type { nodeObservations } from '../../../shared/contract/node-observations.ts'
import type { Input } from '../../../shared/contract/operation-types.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers } from '../../http/request-context.ts'
import { readCandidates } from './candidates.ts'
import { parseEndpoint } from './endpoint-address.ts'
import { createBatching, laneOfTwo } from '../../http/batching.ts'
import { createEndpointRecorder, type EndpointRecorderDeps, type ReceivedReport } from './endpoint-recorder.ts'
import { findTerms } from './endpoint-store.ts'
import { untimeliness } from './observation-age.ts'

const BOUNDS = { batchMax: 250, waitingMax: 16_384 } as const

/**
 * Serves the endpoint intake: the last two of its six gates and its recorder (S0 Endpoint intake). The edge implements the first
 * four gates. In batches, because a site whose address has changed reports all of its nodes at once, and a fleet that begins
 * those of all Domains.
 */
export function createEndpoints(
  deps: EndpointRecorderDeps,
): Pick<Handlers<typeof nodeObservations>, 'PutNodeEndpoint'> {
  const recordAll = createEndpointRecorder(deps)
  const record = createBatching({
    ...BOUNDS,
    laneOf: ({ domainId }: ReceivedReport) => laneOfTwo(domainId),
    async run(reports: readonly ReceivedReport[]) {
      const held = await recordAll(reports)
      return reports.map(({ nodeId }) => held.get(nodeId))
    },
  })
  const findTermsOf = createBatching({
    ...BOUNDS,
    async run(nodeIds: readonly string[]) {
      const terms = await findTerms(deps.datastore.pool('interactive'), nodeIds)
      return nodeIds.map((nodeId) => terms.get(nodeId))
    },
  })
  return {
    async PutNodeEndpoint(ctx, { id, body }) {
      const { nowMs, correlationId, caller } = ctx
      const terms = await findTermsOf(id)
      if (terms === undefined) throw problem('unauthorized')
      const { ttlMs, meshCidr } = terms
      const reportedAtMs = Date.parse(body.reported_at)
      const untimely = untimeliness(reportedAtMs, { nowMs, ttlMs })
      if (untimely !== undefined) {
        ctx.refusedFor(untimely)
        throw problem('endpoint_clock_skew')
      }
      const addresses = addressesOf(body, meshCidr)
      const from = { nodeId: id, domainId: caller.domainId, nowMs, correlationId, audit: ctx.carryAudit() }
      const heldFromMs = await record({ ...from, ...addresses, natType: body.nat_type, reportedAtMs })
      if (heldFromMs === undefined) throw problem('unauthorized')
      return { accepted_at: new Date(nowMs).toISOString(), stale_after: new Date(heldFromMs + ttlMs).toISOString() }
    },
  }
}

type Body = Input<(typeof nodeObservations)['operations']['PutNodeEndpoint']>['body']

/** @throws Problem `endpoint_unparseable`. */
function addressesOf({ endpoint, candidates: texts = [] }: Body, meshCidr: string) {
  const address = parseEndpoint(endpoint)
  const candidates = readCandidates(texts, meshCidr)
  if (address === undefined || candidates === undefined) throw problem('endpoint_unparseable')
  return { ...address, candidates }
}
