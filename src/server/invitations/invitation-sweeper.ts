import type { Clock } from '../ports/clock.ts'
import type { LeaderJob } from '../ports/leadership.ts'
import { LISTED_AFTER_END_MS } from './invitation.ts'
import { deleteExpired } from './store.ts'

const SWEEP_EVERY_MS = 10 * 60 * 1000
const INVITATIONS_MAX = 500

/** The job that deletes invitations long past their end. */
export function createInvitationSweeper({ clock }: { readonly clock: Clock }): LeaderJob {
  return {
    name: 'expired-invitations',
    everyMs: SWEEP_EVERY_MS,
    async run(leading) {
      const before = new Date(clock.now() - LISTED_AFTER_END_MS)
      return (await leading.transaction((tx) => deleteExpired(tx, before, INVITATIONS_MAX))) === INVITATIONS_MAX
    },
  }
}
