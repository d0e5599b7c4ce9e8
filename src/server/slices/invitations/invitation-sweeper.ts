import type { Clock } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { createExpirySweep } from '../../sql/expiry-sweep.ts'
import { LISTED_AFTER_END_MS } from './invitation.ts'

/** The job that deletes invitations long past their end. */
export function createInvitationSweeper({ clock }: { readonly clock: Clock }): LeaderJob {
  return createExpirySweep(clock, {
    name: 'expired-invitations',
    table: 'invitations',
    keptMs: LISTED_AFTER_END_MS,
    everyMs: 10 * 60_000,
    rowsMax: 500,
  })
}
