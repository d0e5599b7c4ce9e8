import type { Clock } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { createBatchDelete } from '../../sql/batch-delete.ts'

/** How long an expired join token is still listed, in ms. */
const LISTED_AFTER_END_MS = 30 * 24 * 60 * 60 * 1000

/** The job that deletes join tokens long after their expiry. */
export function createJoinTokenSweeper({ clock }: { readonly clock: Clock }): LeaderJob {
  return createBatchDelete(clock, {
    name: 'expired-join-tokens',
    table: 'join_tokens',
    key: 'id',
    endedAt: 'expires_at',
    keptMs: LISTED_AFTER_END_MS,
    everyMs: 10 * 60_000,
    rowsMax: 500,
  })
}
