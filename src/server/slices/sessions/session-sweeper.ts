import type { Clock, IdSource } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { deleteEnded } from './store.ts'

const SWEEP_EVERY_MS = 10 * 60 * 1000
const SESSIONS_MAX = 500

/** The job that deletes sessions which have expired or idled too long. */
export function createSessionSweeper({ clock, ids }: { readonly clock: Clock; readonly ids: IdSource }): LeaderJob {
  return {
    name: 'ended-sessions',
    everyMs: SWEEP_EVERY_MS,
    async run({ unitOfWork }) {
      const options = { pool: 'worker', correlationId: ids.next() } as const
      return unitOfWork.run(options, async (change) => {
        const ended = await deleteEnded(change.db, new Date(clock.now()), SESSIONS_MAX)
        for (const id of ended) change.credentialChanged('session', id)
        return ended.length === SESSIONS_MAX
      })
    },
  }
}
