import type { Clock, IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { LeaderJob, Leading } from '../../ports/leadership.ts'
import { holdPeers } from '../../sql/state-revisions.ts'
import { announceEndpoints } from './announce-endpoints.ts'
import { lockNodes } from './endpoint-store.ts'
import { listOverdue, stampStale, type OverdueEndpoint } from './stale-endpoint-store.ts'

export interface EndpointSweeperDeps {
  readonly datastore: Datastore
  readonly clock: Clock
  readonly ids: IdSource
}

const SWEEP_EVERY_MS = 5_000
/** Endpoints in one pass: a report of one of them waits for the end of its Domain's transaction. */
const SWEEP_MAX = 200

/** The job that announces expired endpoints to peers (S0 Peer endpoint freshness). */
export function createEndpointSweeper(deps: EndpointSweeperDeps): LeaderJob {
  return {
    name: 'stale-endpoints',
    everyMs: SWEEP_EVERY_MS,
    async run(leading) {
      const overdue = await listOverdue(deps.datastore.pool('worker'), deps.clock.now(), SWEEP_MAX)
      await sweepEndpoints({ ...deps, ...leading }, overdue)
      return overdue.length === SWEEP_MAX
    },
  }
}

/** Marks overdue endpoints stale unless they were reported since, those of each Domain in one transaction. */
export async function sweepEndpoints(
  { unitOfWork, clock, ids, signal }: Omit<EndpointSweeperDeps, 'datastore'> & Pick<Leading, 'unitOfWork' | 'signal'>,
  overdue: readonly OverdueEndpoint[],
): Promise<void> {
  for (const domainId of new Set(overdue.map((endpoint) => endpoint.domainId))) {
    if (signal.aborted) return
    const found = overdue.filter((endpoint) => endpoint.domainId === domainId)
    const options = { pool: 'worker', correlationId: ids.next() } as const
    await unitOfWork.run(options, async (change) => {
      await holdPeers(change.db, domainId)
      await lockNodes(
        change.db,
        found.map(({ nodeId }) => nodeId),
      )
      const nodeIds = await stampStale(change.db, found, new Date(clock.now()))
      const news = nodeIds.map((nodeId) => ({ nodeId, endpoint: '' }))
      if (news.length > 0) await announceEndpoints(change, domainId, news)
    })
  }
}
