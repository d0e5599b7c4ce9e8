import { blankDatabase } from '../../../scripts/lib/blank-database.mjs'
import { type EmbeddedDatastore, openPglite, type PgliteOptions } from '../../../src/server/adapters/pglite/database.ts'
import { migrate } from '../../../src/server/adapters/postgres/migrate.ts'

/** Opens the embedded datastore in memory, blank, with the schema of the sources, whether or not they were built. */
export async function openMemoryDatastore(
  options: Omit<PgliteOptions, 'dataDir' | 'engine'> = {},
): Promise<EmbeddedDatastore> {
  const image = await blankDatabase({ openPglite, migrate })
  return openPglite({ ...options, dataDir: undefined, engine: { image } })
}
