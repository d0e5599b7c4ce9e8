import type { Clock } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { createBatchDelete } from '../../sql/batch-delete.ts'

const DAY_MS = 86_400_000

/** The job that deletes approvals, with their decisions, as long after their end as audit rows of the platform are kept. */
export function createApprovalSweeper(clock: Clock, retentionDays: number): LeaderJob {
  return createBatchDelete(clock, {
    name: 'ended-approvals',
    table: 'approvals',
    key: 'id',
    endedAt: 'ended_at',
    keptMs: retentionDays * DAY_MS,
    everyMs: 60 * 60_000,
    rowsMax: 500,
  })
}
