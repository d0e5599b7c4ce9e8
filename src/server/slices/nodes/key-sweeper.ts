import type { Clock } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { forgetDeadKeys } from './secret-key-store.ts'

const SWEEP_EVERY_MS = 60 * 60 * 1000
const KEYS_MAX = 500

/** The job that deletes node secret keys long after their end. The newest key of a node stays, so that it is refused as revoked. */
export function createKeySweeper({ clock }: { readonly clock: Clock }): LeaderJob {
  return {
    name: 'dead-node-keys',
    everyMs: SWEEP_EVERY_MS,
    async run(leading) {
      const forgotten = await leading.transaction((tx) => forgetDeadKeys(tx, { nowMs: clock.now(), max: KEYS_MAX }))
      return forgotten === KEYS_MAX
    },
  }
}
