import type { Clock } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { createBatchDelete } from '../../sql/batch-delete.ts'
import { ownStateChanged } from '../../sql/state-revisions.ts'
import { endOverdue } from './sweep-store.ts'

const TIMEOUTS_EVERY_MS = 5_000
/** Executions ended in one transaction: heartbeats of their nodes wait for its end. */
const TIMEOUTS_MAX = 200
/** How long an ended execution is kept (decisions: Executions). */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000

/** The job that ends executions whose time is up. Their nodes get no event: each has `expires_at`, and the next pull leaves it out. */
export function createExecutionTimeouts({ clock }: { readonly clock: Clock }): LeaderJob {
  return {
    name: 'execution-timeouts',
    everyMs: TIMEOUTS_EVERY_MS,
    async run(leading) {
      const ended = await leading.transaction(async (tx) => {
        const nodeIds = await endOverdue(tx, new Date(clock.now()), TIMEOUTS_MAX)
        await ownStateChanged(tx, nodeIds)
        return nodeIds.length
      })
      return ended === TIMEOUTS_MAX
    },
  }
}

/** The job that deletes executions long after their end. */
export function createExecutionForgetting({ clock }: { readonly clock: Clock }): LeaderJob {
  return createBatchDelete(clock, {
    name: 'ended-executions',
    table: 'executions',
    key: 'id',
    endedAt: 'finished_at',
    keptMs: KEPT_MS,
    everyMs: 10 * 60_000,
    rowsMax: 500,
  })
}
