import type { Clock } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { pruneOld, pruneSurplus } from './store.ts'

/** The retention of the log (decisions: Events). */
export interface Retention {
  readonly ageMs: number
  /** Events of one node. */
  readonly perNode: number
}

const RETENTION: Retention = { ageMs: 7 * 24 * 60 * 60 * 1000, perNode: 10_000 }
const EVERY_MS = 60_000
/** Maximum of events examined, and of events deleted, in one transaction: well below 200 ms. */
const ROWS_MAX = 250

/** Deletes events that are too old, or too many of one node. */
export function createEventRetention({ clock }: { readonly clock: Clock }, retention = RETENTION): LeaderJob {
  return {
    name: 'event-log-retention',
    everyMs: EVERY_MS,
    async run(leading) {
      const before = new Date(clock.now() - retention.ageMs)
      const pruned = await leading.transaction((tx) => pruneOld(tx, { before, max: ROWS_MAX }))
      const hasSurplus = await leading.transaction((tx) => pruneSurplus(tx, { kept: retention.perNode, max: ROWS_MAX }))
      return hasSurplus || pruned === ROWS_MAX
    },
  }
}
