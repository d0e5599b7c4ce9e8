import type { Datastore } from '../ports/datastore.ts'
import type { LeaderJob } from '../ports/leadership.ts'
import { hasUnnumbered, numberRows } from './store.ts'

/** The job that a hint of new rows wakes. */
export const NUMBERING = 'outbox-numbering'

/** A hint may get lost: so long does a row wait at most for the leader to look. */
export const POLL_MS = 250
const ROWS_MAX = 1_000

/** Gives outbox rows their numbers, in the order of commits. */
export function createNumbering(deps: {
  readonly datastore: Datastore
  /** Called when rows were numbered. */
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
