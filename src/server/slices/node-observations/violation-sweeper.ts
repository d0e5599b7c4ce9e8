import type { Clock } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { createBatchDelete } from '../../sql/batch-delete.ts'

/** How long a resolved violation is kept, in ms: as long as the audit rows about it, by default. */
const KEPT_MS = 400 * 24 * 60 * 60 * 1000

/** The job that deletes violations that were resolved long ago. Open and acknowledged ones stay. */
export function createViolationSweeper({ clock }: { readonly clock: Clock }): LeaderJob {
  return createBatchDelete(clock, {
    name: 'old-integrity-violations',
    table: 'node_integrity_violations',
    key: 'id',
    endedAt: 'resolved_at',
    keptMs: KEPT_MS,
    everyMs: 10 * 60_000,
    rowsMax: 500,
  })
}
