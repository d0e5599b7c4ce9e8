import type { Clock, IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { LeaderJob, Leading } from '../../ports/leadership.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { holdPeers } from '../../sql/state-revisions.ts'
import { announceEndpoints } from './announce-endpoints.ts'
import { lockEndpoints, lockNodes } from './endpoint-store.ts'
import { announceSettled, settleEndpoints } from './settle-endpoints.ts'
import { listOverdue, markStale, type OverdueEndpoint } from './stale-endpoint-store.ts'

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

/**
 * Decides again what peers get of nodes with overdue endpoints, those of each Domain in one transaction: what else is fresh, or
 * nothing, which marks the endpoint stale. One that was reported since is left as it is.
 */
export async function sweepEndpoints(
  { unitOfWork, clock, ids, signal }: Omit<EndpointSweeperDeps, 'datastore'> & Pick<Leading, 'unitOfWork' | 'signal'>,
  overdue: readonly OverdueEndpoint[],
): Promise<void> {
  for (const domainId of new Set(overdue.map((endpoint) => endpoint.domainId))) {
    if (signal.aborted) return
    const found = overdue.filter((endpoint) => endpoint.domainId === domainId)
    const options = { pool: 'worker', correlationId: ids.next() } as const
    await unitOfWork.run(options, (change) => sweepDomain(change, { domainId, found, nowMs: clock.now() }))
  }
}

interface Sweep {
  readonly domainId: string
  readonly found: readonly OverdueEndpoint[]
  readonly nowMs: number
}

async function sweepDomain(change: Change, { domainId, found, nowMs }: Sweep): Promise<void> {
  const { db } = change
  const nodeIds = found.map(({ nodeId }) => nodeId)
  await holdPeers(db, domainId)
  await lockNodes(db, nodeIds)
  const known = await lockEndpoints(db, nodeIds)
  const left = found.flatMap(({ nodeId, reportedAt }) => {
    const endpoint = known.get(nodeId)
    const isAsFound = endpoint?.isStale === false && endpoint.shown.confirmedAtMs === reportedAt.getTime()
    return isAsFound ? [{ nodeId, domainId, own: endpoint.own, known: endpoint }] : []
  })
  const settled = await settleEndpoints(db, left, nowMs)
  await announceSettled(change, settled)
  const isSettled = new Set(settled.map(({ nodeId }) => nodeId))
  const ended = left.map(({ nodeId }) => nodeId).filter((nodeId) => !isSettled.has(nodeId))
  if (ended.length === 0) return
  await markStale(db, ended, new Date(nowMs))
  const news = ended.map((nodeId) => ({ nodeId, endpoint: '', candidates: [] }))
  await announceEndpoints(change, domainId, news)
}
