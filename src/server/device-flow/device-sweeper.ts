import type { Clock } from '../ports/clock.ts'
import type { LeaderJob } from '../ports/leadership.ts'
import { deleteExpired } from './store.ts'

/** How long a device that asks late is still told that its code has expired, ms. */
const KEPT_AFTER_END_MS = 10 * 60_000
const SWEEP_EVERY_MS = 60_000
const SIGN_INS_MAX = 500

/** The job that deletes device sign-ins some time after their codes have expired. */
export function createDeviceSweeper({ clock }: { readonly clock: Clock }): LeaderJob {
  return {
    name: 'expired-device-sign-ins',
    everyMs: SWEEP_EVERY_MS,
    async run(leading) {
      const before = new Date(clock.now() - KEPT_AFTER_END_MS)
      return (await leading.transaction((tx) => deleteExpired(tx, before, SIGN_INS_MAX))) === SIGN_INS_MAX
    },
  }
}
