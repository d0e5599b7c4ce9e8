import { BootError } from '../../ports/boot-error.ts'
import type { Db } from '../../ports/datastore.ts'
import { RESTORE_STATEMENT_MS, type RestoreTarget } from '../../ports/restore-target.ts'
import { readTables } from './backup-schema.ts'
import { openPostgres, type PostgresOptions } from './database.ts'
import { lockMigrations } from './migrate.ts'

const NAMED_MAX = 3

/**
 * Opens a PostgreSQL database without tables. A server that starts on it meanwhile waits for the end of the restore.
 *
 * @throws BootError where it has tables, in any form: only an empty database is certain to hold nothing of another server.
 */
export async function openPostgresTarget(
  options: Omit<PostgresOptions, 'statementDeadlinesMs'>,
): Promise<RestoreTarget> {
  const datastore = await openPostgres({ ...options, statementDeadlinesMs: { bulk: RESTORE_STATEMENT_MS } })
  try {
    await assertEmpty(datastore.pool('bulk'))
  } catch (error) {
    await datastore.close()
    throw error
  }
  return {
    isOwn: false,
    directory: undefined,
    fill: (work) =>
      datastore.transaction('bulk', async (tx) => {
        await lockMigrations(tx)
        await assertEmpty(tx)
        return work(tx)
      }),
    close: () => datastore.close(),
  }
}

async function assertEmpty(db: Db): Promise<void> {
  const tables = await readTables(db)
  if (tables.length === 0) return
  const named = tables.slice(0, NAMED_MAX).join(', ')
  const more = tables.length > NAMED_MAX ? ' and others' : ''
  throw new BootError(
    1,
    `The database has ${tables.length} ${tables.length === 1 ? 'table' : 'tables'} already (${named}${more}): create an empty one and name it with --database-url, and stop the servers of the old one.`,
  )
}
