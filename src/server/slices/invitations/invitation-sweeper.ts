import type { Clock } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { createBatchDelete } from '../../sql/batch-delete.ts'
import { LISTED_AFTER_END_MS } from './invitation.ts'

/** The job that deletes invitations long after their expiry. */
export function createInvitationSweeper({ clock }: { readonly clock: Clock }): LeaderJob {
  return createBatchDelete(clock, {
    name: 'expired-invitations',
    table: 'invitations',
    key: 'id',
    endedAt: 'expires_at',
    keptMs: LISTED_AFTER_END_MS,
    everyMs: 10 * 60_000,
    rowsMax: 500,
  })
}
