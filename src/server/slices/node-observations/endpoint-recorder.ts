import { runShared } from '../../http/shared-change.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { CarriedAudit, Change, UnitOfWork } from '../../ports/unit-of-work.ts'
import { holdPeers } from '../../sql/state-revisions.ts'
import * as store from './endpoint-store.ts'
import { announceSettled, settleEndpoints } from './settle-endpoints.ts'

export interface EndpointRecorderDeps {
  readonly datastore: Datastore
  readonly unitOfWork: UnitOfWork
  readonly ids: IdSource
}

/** A report with its request. */
export interface ReceivedReport extends store.EndpointReport {
  /** Of the node. */
  readonly domainId: string
  /** When its request was admitted, ms. */
  readonly nowMs: number
  readonly correlationId: string
  readonly audit: CarriedAudit
}

/** Resolves, after the commit, to the instant of the newest report of each node; a deleted node has none. */
type RecordEndpoints = (reports: readonly ReceivedReport[]) => Promise<ReadonlyMap<string, number>>

/**
 * Creates the recorder of reports. It announces them to the peers where they carry news, in one transaction for all of
 * them, with their audit rows. Of the reports of one node the newest counts; a report that is not newer than the known one (a
 * repeated or delayed one) changes nothing. Reports that only repeat the known endpoint
 * have no audit row.
 */
export function createEndpointRecorder({ datastore, ...shared }: EndpointRecorderDeps): RecordEndpoints {
  return async (received) => {
    const newest = newestOf(received)
    const refreshed = await store.refreshEndpoints(datastore.pool('interactive'), newest)
    const held = new Map(newest.map(({ nodeId, reportedAtMs }) => [nodeId, reportedAtMs]))
    const rest = newest.filter(({ nodeId }) => !refreshed.has(nodeId))
    if (rest.length === 0) return held
    const recorded = await runShared(shared, received, async (change) => {
      const instants = await record(change, rest)
      const audits = received.filter(({ nodeId }) => instants.has(nodeId)).map(({ audit }) => audit)
      return { result: instants, audits }
    })
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

async function record(change: Change, reports: readonly ReceivedReport[]): Promise<Map<string, number>> {
  await holdPeers(change.db, ...new Set(reports.map(({ domainId }) => domainId)))
  const nodeIds = reports.map(({ nodeId }) => nodeId)
  const there = await store.lockNodes(change.db, nodeIds)
  const known = await store.lockEndpoints(change.db, nodeIds)
  const living = reports.filter(({ nodeId }) => there.has(nodeId))
  const taken = living.filter((report) => isNewer(known.get(report.nodeId), report))
  // Each report was fresh when it was admitted.
  const nowMs = Math.min(...taken.map((report) => report.nowMs))
  const settled = await settleEndpoints(
    change.db,
    taken.map(({ nodeId, domainId, ...own }) => ({ nodeId, domainId, own, known: known.get(nodeId) })),
    nowMs,
  )
  await announceSettled(change, settled)
  return new Map(living.map(({ nodeId, reportedAtMs }) => [nodeId, latest(known.get(nodeId), reportedAtMs)]))
}

/** The later of the known and the reported instant, ms. */
function latest(known: store.StoredEndpoint | undefined, reportedAtMs: number): number {
  return Math.max(known?.own?.reportedAtMs ?? reportedAtMs, reportedAtMs)
}

function isNewer(known: store.StoredEndpoint | undefined, { reportedAtMs }: store.EndpointReport): boolean {
  return known?.own === undefined || known.own.reportedAtMs < reportedAtMs
}

function setOrDelete(held: Map<string, number>, nodeId: string, instant: number | undefined): void {
  if (instant === undefined) held.delete(nodeId)
  else held.set(nodeId, instant)
}
