import { DatastoreError, type Datastore } from '../../../src/server/ports/datastore.ts'

/** A datastore that is away while it is said to be, as one that cannot be reached. */
export interface FailingDatastore {
  isAway: boolean
  over(datastore: Datastore): Datastore
}

export function failingDatastore(): FailingDatastore {
  const self: FailingDatastore = { isAway: false, over }
  const refuse = (): void => {
    if (self.isAway) throw new DatastoreError('unavailable', undefined, new Error('connect ECONNREFUSED'))
  }

  function over(datastore: Datastore): Datastore {
    return {
      ...datastore,
      pool: (name) => {
        refuse()
        return datastore.pool(name)
      },
      transaction: async (pool, work) => {
        refuse()
        return datastore.transaction(pool, work)
      },
    }
  }

  return self
}
