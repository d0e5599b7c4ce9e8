import type { Clock } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { deleteAccepted } from './violation-store.ts'

/** How long a violation is kept, in ms: as long as the audit rows that tell of it, where nobody has chosen otherwise. */
const KEPT_MS = 400 * 24 * 60 * 60 * 1000
const SWEEP_EVERY_MS = 10 * 60_000
/** Rows deleted in one transaction. */
const SWEEP_MAX = 500

/** The job that deletes violations that are old, also those of nodes that are gone. */
export function createViolationSweeper({ clock }: { readonly clock: Clock }): LeaderJob {
  return {
    name: 'old-integrity-violations',
    everyMs: SWEEP_EVERY_MS,
    async run(leading) {
      const before = new Date(clock.now() - KEPT_MS)
      return (await leading.transaction((tx) => deleteAccepted(tx, before, SWEEP_MAX))) === SWEEP_MAX
    },
  }
}
