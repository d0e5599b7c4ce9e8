import type { KyselyPlugin } from 'kysely'
import type { Datastore } from '../../../src/server/ports/datastore.ts'

/** A datastore that counts what transactions ask of it. */
export interface CountingDatastore extends Datastore {
  /** Statements between `begin` and `commit`, of all transactions so far. */
  statements(): number
}

/** Counts each statement as a round trip of its own, which it is on both stores. */
export function countingDatastore(datastore: Datastore): CountingDatastore {
  let statements = 0
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      statements += 1
      return node
    },
    transformResult: async ({ result }) => result,
  }
  return {
    ...datastore,
    transaction: (pool, work) => datastore.transaction(pool, (tx) => work(tx.withPlugin(plugin))),
    statements: () => statements,
  }
}
