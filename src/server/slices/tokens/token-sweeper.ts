import type { Clock, IdSource } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import * as store from './store.ts'
import { LISTED_AFTER_END_MS } from './token.ts'

const SWEEP_EVERY_MS = 60_000
/** Tokens in one transaction, which also removes the tuples of each. */
const TOKENS_MAX = 100

/** The job that deletes tokens that no list will show again: hidden ones when they have expired, the others 90 days later. */
export function createTokenSweeper({ clock, ids }: { readonly clock: Clock; readonly ids: IdSource }): LeaderJob {
  return {
    name: 'expired-api-tokens',
    everyMs: SWEEP_EVERY_MS,
    async run({ unitOfWork }) {
      const now = new Date(clock.now())
      const endedSince = new Date(now.getTime() - LISTED_AFTER_END_MS)
      const options = { pool: 'worker', correlationId: ids.next() } as const
      return unitOfWork.run(options, async (change) => {
        const tokens = await store.lockExpired(change.db, { now, endedSince, count: TOKENS_MAX })
        await store.deleteTokens(change.db, tokens)
        for (const id of tokens) await change.tuples.deleteObject(`token:${id}`)
        return tokens.length === TOKENS_MAX
      })
    },
  }
}
