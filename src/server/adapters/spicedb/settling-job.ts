import type { AuthzReconciler } from '../../ports/authz-reconciler.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import type { TupleMirror } from '../../ports/tuple-mirror.ts'
import { readUnmirrored, readUnsettled } from './settle-store.ts'

export interface SettlingJobDeps {
  readonly datastore: Datastore
  readonly mirror: Pick<TupleMirror, 'settle'>
  readonly reconciler: AuthzReconciler
  readonly log: { info(details: object, message: string): void }
  readonly everyMs?: number
  /** How often the whole registry is compared while processes without SpiceDB write tuples. */
  readonly compareEveryMs?: number
  readonly monotonicMs?: () => number
}

const EVERY_MS = 2_000
const COMPARE_EVERY_MS = 60_000
const ROWS = 500

/**
 * Settles tuples that a crash or an outage of SpiceDB left unsettled. Settles a tuple only if two successive passes
 * find it, since the first may find it while its change is running. While processes without SpiceDB write tuples, it
 * also compares the whole registry once a minute.
 */
export function createSettlingJob(deps: SettlingJobDeps): LeaderJob {
  const { datastore, mirror, reconciler, log } = deps
  const { everyMs = EVERY_MS, compareEveryMs = COMPARE_EVERY_MS, monotonicMs = () => performance.now() } = deps
  let seen = new Set<string>()
  let comparedMs = Number.NEGATIVE_INFINITY

  async function compareIfDue(): Promise<void> {
    if (monotonicMs() - comparedMs < compareEveryMs) return
    if ((await readUnmirrored(datastore.pool('worker'))) === null) return
    comparedMs = monotonicMs()
    log.info(await reconciler.reconcile(), 'compared the tuples with SpiceDB')
  }

  return {
    name: 'tuple-settling',
    everyMs,
    async run() {
      const rows = await readUnsettled(datastore.pool('worker'), ROWS)
      const left = rows.filter(({ id, state }) => seen.has(`${id} ${state}`))
      seen = new Set(rows.map(({ id, state }) => `${id} ${state}`))
      await mirror.settle(left)
      if (left.length > 0) log.info({ tuples: left.length }, 'settled tuples that earlier changes had left unsettled')
      await compareIfDue()
      return left.length === ROWS
    },
  }
}
