import { openPglite } from '../../adapters/pglite/database.ts'
import { migrateWithin, MIGRATIONS } from '../../adapters/postgres/migrate.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { loadBackup, type Loaded } from '../restore/load-backup.ts'
import { RESTORE_STATEMENT_MS } from '../restore/restore-target.ts'
import { resultOf, runChecks, type CheckResult, type Looked } from './checks.ts'
import { datastoreChecks } from './datastore-checks.ts'
import { keyCheck, type KeyAtHand } from './key-check.ts'

type Warn = (message: string, cause?: unknown) => void

/** Opens an embedded datastore in a scratch directory. Nothing of it is synced: it ends with this process. */
export function openScratchStore(directory: string, warn: Warn): Promise<Datastore> {
  return openPglite({
    dataDir: directory,
    warn,
    statementDeadlinesMs: { bulk: RESTORE_STATEMENT_MS },
    engine: { isScratch: true, isForeground: true },
  })
}

/** Checks a datastore into which a backup was loaded and that has the schema of this version. */
export function checkStore(datastore: Datastore, key: KeyAtHand): Promise<CheckResult[]> {
  return runChecks([...datastoreChecks(datastore), keyCheck(datastore, key)])
}

export interface Verifying {
  readonly path: string
  /** Where the scratch datastore is made. */
  readonly directory: string
  readonly key: KeyAtHand
  readonly warn: Warn
}

/**
 * Loads a backup, whose archive was checked, into a scratch datastore, brings its schema up to date and checks everything
 * that must be true of it. Resolves with each check, failed ones included.
 *
 * @throws BootError where it cannot be loaded at all
 */
export async function verifyBackup({ path, directory, key, warn }: Verifying): Promise<CheckResult[]> {
  const startedAt = performance.now()
  const datastore = await openScratchStore(directory, warn)
  try {
    const loaded = await datastore.transaction('bulk', async (tx) => {
      const done = await loadBackup(tx, { path, isOwn: true })
      await migrateWithin(tx, MIGRATIONS)
      return done
    })
    return [...loadResults(loaded, performance.now() - startedAt), ...(await checkStore(datastore, key))]
  } finally {
    await datastore.close()
  }
}

/** The results of the load itself: `ms` is the time of both. */
export function loadResults({ tables, rows, foreignKeys, broken }: Loaded, ms: number): CheckResult[] {
  const restored: Looked = { count: rows, what: `rows of ${tables} tables`, faults: [] }
  const faults = broken.map(
    ({ table, name }) => `Rows of ${table} refer to rows that the backup does not have (${name}): use another backup.`,
  )
  return [
    resultOf('restore', restored, ms),
    resultOf('foreign keys', { count: foreignKeys, what: 'constraints', faults }, 0),
  ]
}
