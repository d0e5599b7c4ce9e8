import type { Clock } from '../ports/clock.ts'
import type { LeaderJob } from '../ports/leadership.ts'
import { SIGN_IN_TTL_MS } from './attempt.ts'
import { deleteExpired } from './store.ts'

const SWEEP_EVERY_MS = 60_000
const SIGN_INS_MAX = 1000

/** The job that deletes sign-ins which nobody finished. Whoever comes 10 minutes late still hears that it expired. */
export function createSignInSweeper({ clock }: { readonly clock: Clock }): LeaderJob {
  return {
    name: 'expired-sign-ins',
    everyMs: SWEEP_EVERY_MS,
    async run(leading) {
      const before = new Date(clock.now() - SIGN_IN_TTL_MS)
      return (await leading.transaction((tx) => deleteExpired(tx, before, SIGN_INS_MAX))) === SIGN_INS_MAX
    },
  }
}
