import type { Clock } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { createBatchDelete } from '../../sql/batch-delete.ts'

/** The job that deletes device sign-ins. A device that polls late still learns that its code has expired. */
export function createDeviceSweeper({ clock }: { readonly clock: Clock }): LeaderJob {
  return createBatchDelete(clock, {
    name: 'expired-device-sign-ins',
    table: 'device_sign_ins',
    key: 'id',
    endedAt: 'expires_at',
    keptMs: 10 * 60_000,
    everyMs: 60_000,
    rowsMax: 500,
  })
}
