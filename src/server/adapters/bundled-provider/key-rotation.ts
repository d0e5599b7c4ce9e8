import type { LeaderJob } from '../../ports/leadership.ts'
import { isRotationDue, retiredOf } from './key-schedule.ts'
import { deleteKeys, insertKeys, readKeys, type KeyRecord } from './key-store.ts'
import { lockProvider } from './locks.ts'
import { draftKeys, opened } from './signing-keys.ts'
import type { StateDeps } from './state-adapter.ts'

const LOOKED_AT_EVERY_MS = 600_000

/**
 * The job that makes the provider's next signing keys and erases those that no valid token needs any more. Where nobody
 * has used the provider there are no keys, and none are created. Keys are created before the transaction, which holds the lock.
 */
export function createKeyRotation(deps: StateDeps): LeaderJob {
  return {
    name: 'provider-keys',
    everyMs: LOOKED_AT_EVERY_MS,
    async run(leading) {
      const nowMs = deps.clock.now()
      const records = await readKeys(deps.datastore.pool('worker'))
      const keys = await opened(deps, records)
      const retired = retiredOf(keys, nowMs).map(({ kid }) => kid)
      const drafts = isRotationDue(keys, nowMs) ? await draftKeys(deps) : []
      if (drafts.length === 0 && retired.length === 0) return false
      await leading.transaction(async (tx) => {
        await lockProvider(tx)
        if (!isSame(await readKeys(tx), records)) return
        if (drafts.length > 0) await insertKeys(tx, drafts)
        if (retired.length > 0) await deleteKeys(tx, retired)
      })
      return false
    },
  }
}

const isSame = (one: readonly KeyRecord[], other: readonly KeyRecord[]): boolean =>
  one.map(({ kid }) => kid).join() === other.map(({ kid }) => kid).join()
