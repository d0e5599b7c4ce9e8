import { runShared } from '../../http/shared-change.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { CarriedAudit, Change, UnitOfWork } from '../../ports/unit-of-work.ts'
import { lockNodes } from './endpoint-store.ts'
import { combineReports, type ReportedViolation, type ViolationReport } from './violation-report.ts'
import * as store from './violation-store.ts'

export interface ViolationRecorderDeps {
  readonly datastore: Datastore
  readonly unitOfWork: UnitOfWork
  readonly ids: IdSource
}

/** A report with its request. */
export interface ReceivedViolations extends ViolationReport {
  readonly correlationId: string
  readonly audit: CarriedAudit
}

/** Resolves, after the commit, to the ids of the nodes whose reports are recorded; a deleted node is not among them. */
type RecordViolations = (reports: readonly ReceivedViolations[]) => Promise<ReadonlySet<string>>

/** Maximum of stored violations of a node: a faulty agent must not fill the disk. */
const KEPT_MAX = 10_000

/**
 * Creates the recorder of reports. A violation that is not resolved is counted up, in one statement for all nodes that report
 * nothing else; those reports leave their audit rows to the edge. Any other is opened and announced, in one transaction for all
 * of them, with their audit rows.
 */
export function createViolationRecorder({ datastore, unitOfWork, ids }: ViolationRecorderDeps): RecordViolations {
  return async (received) => {
    const reported = combineReports(received)
    const repeated = await store.countRepeats(datastore.pool('interactive'), reported)
    const rest = received.filter(({ nodeId }) => !repeated.has(nodeId))
    if (rest.length === 0) return repeated
    const recorded = await runShared({ unitOfWork, ids }, received, async (change) => {
      const news = reported.filter(({ nodeId }) => !repeated.has(nodeId))
      const living = await record(change, news, ids)
      const audits = rest.filter(({ nodeId }) => living.has(nodeId)).map(({ audit }) => audit)
      return { result: living, audits }
    })
    return new Set([...repeated, ...recorded])
  }
}

/** Records what nodes report. Returns the ids of those that exist. */
async function record(
  change: Change,
  reported: readonly ReportedViolation[],
  ids: IdSource,
): Promise<ReadonlySet<string>> {
  const { db } = change
  const living = await lockNodes(db, [...new Set(reported.map(({ nodeId }) => nodeId))])
  const ofLiving = reported.filter(({ nodeId }) => living.has(nodeId))
  if (ofLiving.length === 0) return living
  const unknown = await store.countKnown(db, ofLiving)
  if (unknown.length === 0) return living
  const opened = await store.openViolations(db, unknown, ids)
  for (const violation of opened) announceOpened(change, violation)
  const dropped = await store.dropSurplus(db, [...new Set(opened.map(({ node_id }) => node_id))], KEPT_MAX)
  for (const each of dropped) if (each.status !== 'resolved') recordDrop(change, each)
  return living
}

function announceOpened(change: Change, violation: store.OpenedViolation): void {
  const { id, node_id, domain_id: domainId, kind, artifact_id } = violation
  const payload = { violation_id: id, node_id, kind, artifact_id }
  change.emit({ event: 'IntegrityViolationOpened', domainId, aggregate: `integrity_violation:${id}`, payload })
}

/** Nothing that a person may still have to see is deleted without a trace. */
function recordDrop(change: Change, { node_id, domain_id: domainId, status, count }: store.DroppedViolations): void {
  change.audit({
    domainId,
    subject: 'system:integrity-monitor',
    relation: 'integrity_violation.drop',
    object: `node:${node_id}`,
    outcome: 'granted',
    reason: 'violation_limit',
    context: { status, count },
  })
}
