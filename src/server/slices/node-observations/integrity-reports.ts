import type { nodeObservations } from '../../../shared/contract/node-observations.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers } from '../../http/request-context.ts'
import { createBatching, laneOfTwo } from '../../http/batching.ts'
import { createViolationRecorder, type ReceivedViolations, type ViolationRecorderDeps } from './violation-recorder.ts'

const BOUNDS = { batchMax: 512, waitingMax: 16_384 } as const

/**
 * Serves reports of integrity violations on nodes. A report is stored completely or not at all. In batches, because what alters
 * one node of a fleet often alters all of them, and agents repeat a violation while it lasts.
 */
export function createIntegrityReports(
  deps: ViolationRecorderDeps,
): Pick<Handlers<typeof nodeObservations>, 'PostNodeIntegrityViolations'> {
  const recordAll = createViolationRecorder(deps)
  const record = createBatching({
    ...BOUNDS,
    laneOf: ({ nodeId }: ReceivedViolations) => laneOfTwo(nodeId),
    weightOf: ({ violations }) => violations.length,
    async run(reports: readonly ReceivedViolations[]) {
      const recorded = await recordAll(reports)
      return reports.map(({ nodeId }) => recorded.has(nodeId))
    },
  })
  return {
    async PostNodeIntegrityViolations(ctx, { id, body: { violations } }) {
      const { nowMs, correlationId } = ctx
      ctx.note({ count: violations.length })
      const report = { nodeId: id, acceptedAtMs: nowMs, violations, correlationId, audit: ctx.carryAudit() }
      if (!(await record(report))) throw problem('unauthorized')
      return { accepted_at: new Date(nowMs).toISOString(), violation_count: violations.length }
    },
  }
}
