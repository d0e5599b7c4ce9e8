import { type EmbeddedDatastore, openPglite, type PgliteOptions } from '../../src/server/adapters/pglite/database.ts'
import { embeddedImage } from './images.mjs'

/** Opens the embedded datastore in memory, empty, without initialising it each time. */
export async function openMemoryDatastore(
  options: Omit<PgliteOptions, 'dataDir' | 'engine'> = {},
): Promise<EmbeddedDatastore> {
  return openPglite({ ...options, dataDir: undefined, engine: { image: await embeddedImage() } })
}
