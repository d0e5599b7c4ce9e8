import type { Clock } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { OPEN_MS } from './held-calls.ts'
import type { HeldRuns } from './held-runs.ts'
import { listOpenCalls } from './held-store.ts'

export interface HeldJobDeps {
  readonly datastore: Datastore
  readonly heldRuns: HeldRuns
  readonly clock: Clock
}

const EVERY_MS = 5_000
/** The process that took the decision makes the call at once; after so long it has crashed, or a dependency was away. */
const GRACE_MS = 10_000

/** The job that makes approved calls which a crash or an outage kept from being made, and ends those that nobody made. */
export function createHeldJob({ datastore, heldRuns, clock }: HeldJobDeps): LeaderJob {
  return {
    name: 'held-calls',
    everyMs: EVERY_MS,
    async run({ signal }) {
      const now = clock.now()
      const open = await listOpenCalls(datastore.pool('worker'), {
        approvedBefore: new Date(now - GRACE_MS),
        openedBefore: new Date(now - OPEN_MS),
      })
      for (const { approval_id: approvalId } of open) if (!signal.aborted) await heldRuns.run(approvalId)
      return false
    },
  }
}
