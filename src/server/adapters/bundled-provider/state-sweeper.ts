import type { Clock } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { deleteExpiredStates } from './state-store.ts'

const SWEEP_EVERY_MS = 60_000
const STATES_MAX = 500

/** The job that deletes expired state of the bundled provider. */
export function createStateSweeper({ clock }: { readonly clock: Clock }): LeaderJob {
  return {
    name: 'expired-provider-states',
    everyMs: SWEEP_EVERY_MS,
    async run(leading) {
      const now = new Date(clock.now())
      return (await leading.transaction((tx) => deleteExpiredStates(tx, now, STATES_MAX))) === STATES_MAX
    },
  }
}
