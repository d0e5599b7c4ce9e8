import type { Datastore } from '../ports/datastore.ts'
import type { LeaderJob } from '../ports/leadership.ts'
import { hasUnnumbered, numberRows } from './store.ts'

/** Name of the job to wake when there are new rows. */
export const NUMBERING = 'outbox-numbering'

/** Polling interval: the maximum delay of a row whose wake-up was lost. */
export const POLL_MS = 250
const ROWS_MAX = 1_000

/** Makes the job that numbers outbox rows in commit order. */
export function createNumbering(deps: {
  readonly datastore: Datastore
  /** Called after rows were numbered and committed. */
  readonly onNumbered: () => void
}): LeaderJob {
  return {
    name: NUMBERING,
    everyMs: POLL_MS,
    isUrgent: true,
    async run(leading) {
      if (!(await hasUnnumbered(deps.datastore.pool('worker')))) return false
      const numbered = await leading.transaction((tx) => numberRows(tx, ROWS_MAX))
      if (numbered > 0) deps.onNumbered()
      return numbered === ROWS_MAX
    },
  }
}
