import { setTimeout as sleep } from 'node:timers/promises'
import type { Datastore, Db, Pool } from '../../ports/datastore.ts'
import { hasSqlState } from './errors.ts'
import type { TransactionScope } from './transaction-scope.ts'

const DEADLOCK_DETECTED = '40P01'
/**
 * Long enough for the other transaction to take the lock that it waited for. Without the pause both could deadlock
 * again.
 */
const RETRY_DELAY_MS = 25

/** `Datastore.transaction` over the pools. The victim of a deadlock has changed nothing, so its work is retried once. */
export function createTransactions(pools: (name: Pool) => Db, scope: TransactionScope): Datastore['transaction'] {
  const attempt = <T>(pool: Pool, work: (tx: Db) => Promise<T>): Promise<T> =>
    pools(pool)
      .transaction()
      .setIsolationLevel('read committed')
      .execute((tx) => scope.run(() => work(tx)))

  return async (pool, work) => {
    try {
      return await attempt(pool, work)
    } catch (error) {
      if (!hasSqlState(error, DEADLOCK_DETECTED)) throw error
      await sleep(RETRY_DELAY_MS)
      return attempt(pool, work)
    }
  }
}
