import type { Clock } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { createExpirySweep } from '../../sql/expiry-sweep.ts'
import { SIGN_IN_TTL_MS } from './attempt.ts'

/** The job that deletes sign-ins which nobody finished. Whoever comes 10 minutes late still hears that it expired. */
export function createSignInSweeper({ clock }: { readonly clock: Clock }): LeaderJob {
  return createExpirySweep(clock, {
    name: 'expired-sign-ins',
    table: 'sign_ins',
    keptMs: SIGN_IN_TTL_MS,
    everyMs: 60_000,
    rowsMax: 1000,
  })
}
