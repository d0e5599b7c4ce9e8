import type { Clock } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { createBatchDelete } from '../../sql/batch-delete.ts'
import { SIGN_IN_TTL_MS } from './attempt.ts'

/** The job that deletes sign-ins which nobody finished. Anyone who comes up to 10 minutes late still learns that it expired. */
export function createSignInSweeper({ clock }: { readonly clock: Clock }): LeaderJob {
  return createBatchDelete(clock, {
    name: 'expired-sign-ins',
    table: 'sign_ins',
    key: 'state_hash',
    endedAt: 'expires_at',
    keptMs: SIGN_IN_TTL_MS,
    everyMs: 60_000,
    rowsMax: 1000,
  })
}
