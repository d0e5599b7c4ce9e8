import type { Clock } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { createExpirySweep } from '../../sql/expiry-sweep.ts'

/** The job that deletes device sign-ins. A device that asks late is still told that its code has expired. */
export function createDeviceSweeper({ clock }: { readonly clock: Clock }): LeaderJob {
  return createExpirySweep(clock, {
    name: 'expired-device-sign-ins',
    table: 'device_sign_ins',
    keptMs: 10 * 60_000,
    everyMs: 60_000,
    rowsMax: 500,
  })
}
