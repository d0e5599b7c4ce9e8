import type { Clock } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { createExpirySweep } from '../../sql/expiry-sweep.ts'

/** How long an expired join token is still listed, in ms. */
const LISTED_AFTER_END_MS = 30 * 24 * 60 * 60 * 1000

/** The job that deletes join tokens long past their expiry. */
export function createJoinTokenSweeper({ clock }: { readonly clock: Clock }): LeaderJob {
  return createExpirySweep(clock, {
    name: 'expired-join-tokens',
    table: 'join_tokens',
    keptMs: LISTED_AFTER_END_MS,
    everyMs: 10 * 60_000,
    rowsMax: 500,
  })
}
