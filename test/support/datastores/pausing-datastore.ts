import type { KyselyPlugin } from 'kysely'
import type { Datastore, Pool } from '../../../src/server/ports/datastore.ts'
import { gate } from '../run/gate.ts'

/** Something that stands still in the middle of what it does. */
export interface Pause {
  /** Resolves when it stands still. */
  readonly reached: Promise<void>
  /** Lets it go on, or pass where it has not come to it. */
  open(): void
  /** Statements that were done since it was set, of everybody. */
  statements(): number
}

/** A datastore in which whoever does the statement of that number stands still behind it, its transaction open. */
export interface PausingDatastore {
  over<Paused extends Datastore>(datastore: Paused): Paused
  /** Counts from now on; the pause set before is open by then. */
  pauseBehind(statement: number): Pause
  /** Transactions that were done twice, as the victim of a deadlock is. */
  readonly repeated: number
}

const FOREGROUND: readonly Pool[] = ['interactive', 'heartbeats', 'node-keys']

/** What uses other pools is neither counted nor paused: background work, unless they are given. */
export function pausingDatastore(pools: readonly Pool[] = FOREGROUND): PausingDatastore {
  let behind = Infinity
  let done = 0
  let repeated = 0
  let arrived = gate()
  let left = gate()

  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      done += 1
      if (done !== behind) return result
      arrived.open()
      await left.passed
      return result
    },
  }

  return {
    get repeated() {
      return repeated
    },
    over: (datastore) => ({
      ...datastore,
      pool: (name) => (pools.includes(name) ? datastore.pool(name).withPlugin(plugin) : datastore.pool(name)),
      transaction(pool, work) {
        let attempts = 0
        return datastore.transaction(pool, (tx) => {
          attempts += 1
          if (attempts > 1) repeated += 1
          return work(pools.includes(pool) ? tx.withPlugin(plugin) : tx)
        })
      },
    }),
    pauseBehind(statement) {
      const [here, way] = [gate(), gate()]
      left.open()
      arrived = here
      left = way
      behind = statement
      done = 0
      return {
        reached: here.passed,
        open() {
          behind = Infinity
          way.open()
        },
        statements: () => done,
      }
    },
  }
}
