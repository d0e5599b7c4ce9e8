import { openPostgres } from '../../../src/server/adapters/postgres/database.ts'
import type { Datastore } from '../../../src/server/ports/datastore.ts'
import { openMemoryDatastore } from './memory-datastore.ts'
import { exceptNotDurable, startMigratedCluster } from './migrated-cluster.ts'
import { requirement } from '../run/requirements.mjs'

/** A datastore to run tests against. */
export interface TestStore {
  readonly name: 'embedded' | 'postgres'
  /** Whether this machine lacks what it needs: then its tests are skipped, visibly. */
  readonly missing: boolean
  /** Opens one that is migrated and blank; `close` also removes what it needed. */
  open(): Promise<Datastore>
}

/** Both datastores. Whatever a test asserts holds on each of them. */
export const STORES: readonly TestStore[] = [
  { name: 'embedded', missing: false, open: () => openMemoryDatastore() },
  { name: 'postgres', missing: requirement('postgresql') === undefined, open: openOwnPostgres },
]

async function openOwnPostgres(): Promise<Datastore> {
  const cluster = await startMigratedCluster()
  let isClosing = false
  /** A closed pool's last connections may still be there when the server ends: nothing else may be warned of. */
  const warn = (message: string, cause?: unknown): void => {
    if (!isClosing) throw new Error(message, { cause })
  }
  const datastore = await openPostgres({ url: cluster.url, warn: exceptNotDurable(warn) })
  return {
    ...datastore,
    async close() {
      isClosing = true
      await datastore.close()
      await cluster.stop()
    },
  }
}
