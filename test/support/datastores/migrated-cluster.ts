import { execFileSync } from 'node:child_process'
import { basename } from 'node:path'
import { schemaKey } from '../../../scripts/lib/blank-database.mjs'
import { openPostgres } from '../../../src/server/adapters/postgres/database.ts'
import { migrate } from '../../../src/server/adapters/postgres/migrate.ts'
import { keptImage } from './images.mjs'
import { blankPostgresImage, type PostgresCluster, startPostgresCluster } from './postgres-cluster.ts'

/**
 * Starts a cluster whose database has the schema of the sources, for tests that are not about migrations. Unless it is
 * durable it does not wait for the disk, of which every server process on it warns.
 */
export async function startMigratedCluster(isDurable = false): Promise<PostgresCluster> {
  const name = `${basename(await blankPostgresImage())}-${schemaKey()}`
  return startPostgresCluster({ isDurable, image: await keptImage(name, make) })
}

async function make(path: string): Promise<void> {
  const cluster = await startPostgresCluster({ isDurable: false })
  const datastore = await openPostgres({ url: cluster.url, warn: () => undefined })
  await migrate(datastore)
  await datastore.close()
  await cluster.end('SIGINT')
  execFileSync('cp', ['-a', cluster.dataDirectory, path])
  await cluster.stop()
}

const NOT_DURABLE = /^PostgreSQL runs with \w+ = off: /

/** Passes on what a store warns of, but for the settings that such a cluster is meant to have. */
export function exceptNotDurable<Rest extends unknown[]>(
  warn: (message: string, ...rest: Rest) => void,
): (message: string, ...rest: Rest) => void {
  return (message, ...rest) => {
    if (!NOT_DURABLE.test(message)) warn(message, ...rest)
  }
}
