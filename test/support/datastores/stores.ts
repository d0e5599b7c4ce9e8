import { afterAll, beforeAll } from 'vitest'
import { blankDatabase } from '../../../scripts/lib/blank-database.mjs'
import { openPglite } from '../../../src/server/adapters/pglite/database.ts'
import { openPostgres } from '../../../src/server/adapters/postgres/database.ts'
import { migrate } from '../../../src/server/adapters/postgres/migrate.ts'
import type { Datastore, Pool } from '../../../src/server/ports/datastore.ts'
import type { SeatPlace } from '../../../src/server/ports/leader-seat.ts'
import { requirement } from '../run/requirements.mjs'
import { exceptNotDurable, startMigratedCluster } from './migrated-cluster.ts'
import type { PostgresCluster } from './postgres-cluster.ts'

export interface StoreSettings {
  /** Shorter deadlines of statements than the defaults. */
  readonly statementDeadlinesMs?: Partial<Record<Pool, number>>
  /** Whether a PostgreSQL waits for the disk, so that no process warns that it does not. Default: false. */
  readonly isDurable?: boolean
  /** Called with warnings. Default: a warning fails the test. */
  readonly warn?: (message: string, cause?: unknown) => void
}

/** A migrated datastore. `close` also removes its server. */
export interface OpenedStore extends Datastore {
  /** Where processes on it compete for leadership. */
  readonly place: SeatPlace
  /** The server behind it; undefined for the embedded store. */
  readonly cluster: PostgresCluster | undefined
}

/** A kind of datastore to run tests against. */
export interface TestStore {
  readonly name: Datastore['kind']
  /** Whether this machine lacks what it needs: its tests are then skipped, or fail where CTL_TEST_REQUIRE names it. */
  readonly missing: boolean
  /** Opens a blank one with the schema of the sources: PGlite in memory, or a PostgreSQL server of its own. */
  open(settings?: StoreSettings): Promise<OpenedStore>
}

export const EMBEDDED: TestStore = { name: 'embedded', missing: false, open: openEmbedded }
export const POSTGRES: TestStore = {
  name: 'postgres',
  missing: requirement('postgresql') === undefined,
  open: openOwnPostgres,
}

/** Both datastores. Whatever a test asserts holds on each of them. */
export const STORES: readonly TestStore[] = [EMBEDDED, POSTGRES]

function refuse(message: string, cause?: unknown): never {
  throw new Error(message, { cause })
}

async function openEmbedded({ statementDeadlinesMs = {}, warn = refuse }: StoreSettings = {}): Promise<OpenedStore> {
  const image = await blankDatabase({ openPglite, migrate })
  const datastore = await openPglite({ dataDir: undefined, engine: { image }, statementDeadlinesMs, warn })
  return { ...datastore, cluster: undefined }
}

async function openOwnPostgres(settings: StoreSettings = {}): Promise<OpenedStore> {
  const cluster = await startMigratedCluster(settings.isDurable)
  try {
    return await openOver(cluster, settings)
  } catch (error) {
    await cluster.stop()
    throw error
  }
}

async function openOver(
  cluster: PostgresCluster,
  { statementDeadlinesMs = {}, warn = refuse }: StoreSettings,
): Promise<OpenedStore> {
  let isClosing = false
  const datastore = await openPostgres({
    url: cluster.url,
    statementDeadlinesMs,
    warn: exceptNotDurable((message, cause) => {
      // The last connections of a closed pool may still be open when the server ends.
      if (!isClosing) warn(message, cause)
    }),
  })
  return {
    ...datastore,
    cluster,
    async close() {
      isClosing = true
      try {
        await datastore.close()
      } finally {
        await cluster.stop()
      }
    },
  }
}

/** The store of the surrounding `describe`. */
export interface StoreInUse {
  /** Only within hooks and tests. */
  current(): OpenedStore
  /** Its warnings so far. */
  readonly warnings: readonly string[]
  /** The server behind it. @throws Error on the embedded store. */
  cluster(): PostgresCluster
}

/** Opens a store before the tests of the surrounding `describe` and closes it after them. Empty it between tests with `emptyTables`. */
export function useDatastore(store: TestStore, settings: Omit<StoreSettings, 'warn'> = {}): StoreInUse {
  let opened: OpenedStore | undefined
  const warnings: string[] = []
  const current = (): OpenedStore => {
    if (opened === undefined) throw new Error(`the ${store.name} datastore is not open`)
    return opened
  }
  beforeAll(async () => {
    if (!store.missing) opened = await store.open({ ...settings, warn: (message) => void warnings.push(message) })
  })
  afterAll(() => opened?.close())
  return {
    current,
    warnings,
    cluster() {
      const { cluster } = current()
      if (cluster === undefined) throw new Error(`the ${store.name} datastore has no cluster`)
      return cluster
    },
  }
}
