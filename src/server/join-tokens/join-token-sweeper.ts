import type { Clock } from '../ports/clock.ts'
import type { LeaderJob } from '../ports/leadership.ts'
import { deleteExpired } from './store.ts'

/** How long an expired join token is still listed, in ms. */
const LISTED_AFTER_END_MS = 30 * 24 * 60 * 60 * 1000
const SWEEP_EVERY_MS = 10 * 60 * 1000
const TOKENS_MAX = 500

/** The job that deletes join tokens long past their expiry. */
export function createJoinTokenSweeper({ clock }: { readonly clock: Clock }): LeaderJob {
  return {
    name: 'expired-join-tokens',
    everyMs: SWEEP_EVERY_MS,
    async run(leading) {
      const before = new Date(clock.now() - LISTED_AFTER_END_MS)
      return (await leading.transaction((tx) => deleteExpired(tx, before, TOKENS_MAX))) === TOKENS_MAX
    },
  }
}
