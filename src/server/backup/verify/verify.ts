import type { BackupProof } from '../../ports/backup-proof.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { loadBackup, type Loaded } from '../restore/load-backup.ts'
import { resultOf, runChecks, type CheckResult, type Looked } from './checks.ts'
import { datastoreChecks } from './datastore-checks.ts'
import type { KeyAtHand } from './key-at-hand.ts'
import { keyCheck } from './key-check.ts'

/** By which parts of the server, and with which key a datastore is checked. */
interface Checking {
  readonly key: KeyAtHand
  readonly proof: BackupProof
}

/** Checks a datastore into which a backup was loaded and that has the schema of this version. */
export function checkStore(datastore: Datastore, { key, proof }: Checking): Promise<CheckResult[]> {
  return runChecks([...datastoreChecks(datastore, proof), keyCheck(datastore, { key, proof })])
}

export interface Verifying extends Checking {
  readonly path: string
  /** Where the scratch datastore is made. */
  readonly directory: string
  readonly warn: (message: string, cause?: unknown) => void
}

/**
 * Loads a backup, whose archive was checked, into a scratch datastore, brings its schema up to date and checks everything
 * that must be true of it. Resolves with each check, failed ones included.
 *
 * @throws BootError where it cannot be loaded at all
 */
export async function verifyBackup({ path, directory, key, warn, proof }: Verifying): Promise<CheckResult[]> {
  const startedAt = performance.now()
  const datastore = await proof.openScratch(directory, warn)
  try {
    const loaded = await datastore.transaction('bulk', async (tx) => {
      const done = await loadBackup(tx, { path, isOwn: true, schema: proof.schema })
      await proof.schema.migrateWithin(tx)
      return done
    })
    return [...loadResults(loaded, performance.now() - startedAt), ...(await checkStore(datastore, { key, proof }))]
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
