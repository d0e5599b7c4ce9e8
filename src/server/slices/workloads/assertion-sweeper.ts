import type { Clock } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { deleteUsedAssertions } from './store.ts'

const SWEEP_EVERY_MS = 60_000
const ASSERTIONS_MAX = 1000

/** The job that deletes used assertions once they would be refused for their age. */
export function createAssertionSweeper({ clock }: { readonly clock: Clock }): LeaderJob {
  return {
    name: 'used-assertions',
    everyMs: SWEEP_EVERY_MS,
    run(leading) {
      const now = new Date(clock.now())
      return leading.transaction(
        async (db) => (await deleteUsedAssertions(db, { now, count: ASSERTIONS_MAX })) === ASSERTIONS_MAX,
      )
    },
  }
}
