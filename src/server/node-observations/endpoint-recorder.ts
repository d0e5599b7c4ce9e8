import type { IdSource } from '../ports/clock.ts'
import type { Datastore } from '../ports/datastore.ts'
import type { Change, UnitOfWork } from '../ports/unit-of-work.ts'
import { formatEndpoint } from '../rows/endpoint-text.ts'
import { tellEndpoints } from './endpoint-news.ts'
import * as store from './endpoint-store.ts'

export interface EndpointRecorderDeps {
  readonly datastore: Datastore
  readonly unitOfWork: UnitOfWork
  readonly ids: IdSource
}

/** A report with the request that it came by. */
export interface ReceivedReport extends store.EndpointReport {
  readonly correlationId: string
}

/** Resolves, after the commit, to the instant of the newest report of each node; of a node that is gone there is none. */
type RecordEndpoints = (reports: readonly ReceivedReport[]) => Promise<ReadonlyMap<string, number>>

/**
 * Makes what records reports, and tells the peers where they tell them something: that is one transaction for all of
 * them. Of the reports of one node the newest counts; one that is not newer than what is known, a repeated or an
 * overtaken one, changes nothing.
 */
export function createEndpointRecorder({ datastore, unitOfWork, ids }: EndpointRecorderDeps): RecordEndpoints {
  return async (received) => {
    const newest = newestOf(received)
    const refreshed = await store.refreshEndpoints(datastore.pool('interactive'), newest)
    const held = new Map(newest.map(({ nodeId, reportedAtMs }) => [nodeId, reportedAtMs]))
    const rest = newest.filter(({ nodeId }) => !refreshed.has(nodeId))
    if (rest.length === 0) return held
    const [only] = received.length === 1 ? received : []
    const options = {
      pool: 'interactive',
      correlationId: only?.correlationId ?? ids.next(),
      audit: () => undefined,
    } as const
    const recorded = await unitOfWork.run(options, (change) => record(change, rest))
    for (const { nodeId } of rest) setOrDelete(held, nodeId, recorded.get(nodeId))
    return held
  }
}

/** Of each node the report with the latest instant, the first of several; by node id. */
function newestOf(received: readonly ReceivedReport[]): ReceivedReport[] {
  const newest = new Map<string, ReceivedReport>()
  for (const report of received) {
    const other = newest.get(report.nodeId)
    if (other === undefined || other.reportedAtMs < report.reportedAtMs) newest.set(report.nodeId, report)
  }
  return [...newest.values()].toSorted((one, other) => (one.nodeId < other.nodeId ? -1 : 1))
}

async function record(change: Change, reports: readonly store.EndpointReport[]): Promise<Map<string, number>> {
  const nodeIds = reports.map(({ nodeId }) => nodeId)
  const homes = await store.lockNodes(change.db, nodeIds)
  const known = await store.lockEndpoints(change.db, nodeIds)
  const taken = reports.filter((report) => homes.has(report.nodeId) && isNewer(known.get(report.nodeId), report))
  if (taken.length > 0) await store.storeEndpoints(change.db, taken)
  const news = taken.filter((report) => isNews(known.get(report.nodeId), report))
  // Domains in the order of their ids: each of them is locked.
  for (const domainId of [...new Set(homes.values())].toSorted()) {
    const told = news.filter(({ nodeId }) => homes.get(nodeId) === domainId).map(newsOf)
    if (told.length > 0) await tellEndpoints(change, domainId, told)
  }
  const held = new Map<string, number>()
  for (const { nodeId, reportedAtMs } of reports) {
    const before = known.get(nodeId)?.reportedAtMs ?? reportedAtMs
    if (homes.has(nodeId)) held.set(nodeId, Math.max(before, reportedAtMs))
  }
  return held
}

function isNewer(known: store.StoredEndpoint | undefined, { reportedAtMs }: store.EndpointReport): boolean {
  return known === undefined || known.reportedAtMs < reportedAtMs
}

/** Whether peers see another endpoint by the report than before. */
function isNews(known: store.StoredEndpoint | undefined, { host, port }: store.EndpointReport): boolean {
  return known === undefined || known.isStale || known.host !== host || known.port !== port
}

function newsOf({ nodeId, host, port }: store.EndpointReport) {
  return { nodeId, endpoint: formatEndpoint(host, port) }
}

function setOrDelete(held: Map<string, number>, nodeId: string, instant: number | undefined): void {
  if (instant === undefined) held.delete(nodeId)
  else held.set(nodeId, instant)
}
