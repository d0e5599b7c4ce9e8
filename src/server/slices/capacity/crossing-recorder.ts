import type { ServiceRelation } from '../../../shared/contract/audit-relations.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { LeadershipLost } from '../../ports/leadership-lost.ts'
import type { LeaderJob, Leading } from '../../ports/leadership.ts'
import { holdDomain } from '../../sql/hold-domain.ts'
import { hasCrossingRow } from './crossings-store.ts'
import type { HeldCrossing, HeldCrossings } from './held-crossings.ts'

export interface CrossingRecorderDeps {
  readonly datastore: Datastore
  readonly crossings: HeldCrossings
  readonly intervalMs: number
  /** Called with the first of consecutive failures. */
  readonly onFailure: (error: unknown) => void
}

const EVERY_MS = 1_000

/** The job that writes the audit rows of crossings. One that cannot be written does not hold up the others. */
export function createCrossingRecorder({
  datastore,
  crossings,
  intervalMs,
  onFailure,
}: CrossingRecorderDeps): LeaderJob {
  let hasFailed = false
  const isWritten = (crossing: HeldCrossing, since?: Date): Promise<boolean> =>
    hasCrossingRow(datastore.pool('worker'), { ...crossing, relation: relationOf(crossing), since })

  async function record(leading: Leading, crossing: HeldCrossing): Promise<void> {
    if (await isWritten(crossing, sinceOf(crossing, intervalMs))) return
    if (!(await write(leading, crossing))) return
    crossings.announced(crossing)
    // A change goes through without its audit row; here the row is the change.
    if (!(await isWritten(crossing))) throw new Error(`the audit row of ${relationOf(crossing)} was refused`)
  }

  async function attempt(leading: Leading, crossing: HeldCrossing): Promise<void> {
    try {
      await record(leading, crossing)
      crossings.settled(crossing)
      hasFailed = false
    } catch (error) {
      if (error instanceof LeadershipLost) throw error
      crossings.failed(crossing)
      if (!hasFailed) onFailure(error)
      hasFailed = true
    }
  }

  return {
    name: 'capacity-crossings',
    everyMs: EVERY_MS,
    async run(leading) {
      for (const crossing of crossings.due()) {
        if (leading.signal.aborted) break
        await attempt(leading, crossing)
      }
      return false
    },
  }
}

function relationOf({ dimension }: HeldCrossing): ServiceRelation {
  return `capacity.${dimension}.threshold_crossed`
}

/**
 * From when on a row of another leader is one of the same crossing: replicas sample at different moments of an interval. A process
 * that begins over the threshold has a crossing of its own.
 */
function sinceOf({ isFirst, detected }: HeldCrossing, intervalMs: number): Date | undefined {
  return isFirst ? undefined : new Date(detected.nowMs - 2 * intervalMs)
}

/** False when the Domain is gone: it has no chain any more. An event that was emitted is not emitted again with its row. */
function write({ unitOfWork }: Leading, crossing: HeldCrossing): Promise<boolean> {
  const { domainId, dimension, correlationId, isAnnounced } = crossing
  return unitOfWork.run({ pool: 'worker', correlationId }, async (change) => {
    if (!(await holdDomain(change.db, domainId))) return false
    if (!isAnnounced)
      change.emit({
        event: 'CapacityThresholdCrossed',
        domainId,
        aggregate: `domain:${domainId}`,
        payload: { domain_id: domainId, dimension },
      })
    change.audit({
      domainId,
      subject: 'system:capacity-monitor',
      relation: relationOf(crossing),
      object: `domain:${domainId}`,
      outcome: 'granted',
      reason: 'granted',
      context: {},
    })
    return true
  })
}
