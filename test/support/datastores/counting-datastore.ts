import type { KyselyPlugin } from 'kysely'
import type { Datastore } from '../../../src/server/ports/datastore.ts'

/** What a datastore counts of its transactions. */
export interface CountedStatements {
  /** Statements between `begin` and `commit`, of all transactions so far. */
  statements(): number
}

/** Counts each statement as a round trip of its own, which it is on both stores. */
export function countingDatastore<Counted extends Datastore>(datastore: Counted): Counted & CountedStatements {
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
