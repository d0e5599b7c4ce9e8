import type { Clock, IdSource } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { createBatchDelete } from '../../sql/batch-delete.ts'
import { ownStateChanged } from '../../sql/state-revisions.ts'
import { announceRevoked } from './announce.ts'
import { endOver } from './sweep-store.ts'

const ENDS_EVERY_MS = 5_000
/** Sessions ended in one transaction: heartbeats of their nodes wait for its end. */
const ENDS_MAX = 200
/** How long a report on a revoked session gets `revoked` as its answer, rather than that there is no such session. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000

/**
 * The job that ends sessions whose time is up or that nobody uses. A node sees an expiry by itself. It gets an event when a session
 * was unused for too long, since its reports of activity may have been lost.
 */
export function createMediatedSessionEnds(deps: { readonly clock: Clock; readonly ids: IdSource }): LeaderJob {
  return {
    name: 'mediated-session-ends',
    everyMs: ENDS_EVERY_MS,
    async run({ unitOfWork }) {
      const options = { pool: 'worker', correlationId: deps.ids.next() } as const
      const ended = await unitOfWork.run(options, async (change) => {
        const over = await endOver(change.db, new Date(deps.clock.now()), ENDS_MAX)
        await ownStateChanged(
          change.db,
          over.map(({ node_id }) => node_id),
        )
        for (const session of over) if (session.revoked_at !== null) announceRevoked(change, session)
        return over.length
      })
      return ended === ENDS_MAX
    },
  }
}

/** The job that deletes sessions long after their end. */
export function createMediatedSessionForgetting({ clock }: { readonly clock: Clock }): LeaderJob {
  return createBatchDelete(clock, {
    name: 'ended-mediated-sessions',
    table: 'mediated_sessions',
    key: 'id',
    endedAt: 'ended_at',
    keptMs: KEPT_MS,
    everyMs: 10 * 60_000,
    rowsMax: 500,
  })
}
