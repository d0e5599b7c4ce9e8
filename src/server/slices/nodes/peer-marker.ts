import type { Clock } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { forgetMarks, markPeers } from './peer-marks-store.ts'

const MARK_EVERY_MS = 30_000
/** How long marks are kept: well beyond the time after which a node is due. */
const KEPT_MS = 15 * 60 * 1000

/** The job that records when the peers of each Domain changed, from which follows how long a node has been behind. */
export function createPeerMarker({ clock }: { readonly clock: Clock }): LeaderJob {
  return {
    name: 'peer-marks',
    everyMs: MARK_EVERY_MS,
    async run(leading) {
      const nowMs = clock.now()
      await leading.transaction(async (tx) => {
        await markPeers(tx, nowMs)
        await forgetMarks(tx, nowMs - KEPT_MS)
      })
      return false
    },
  }
}
