import type { BackupProof } from '../../ports/backup-proof.ts'
import type { BackupSchema } from '../../ports/backup-schema.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { loadBackup } from '../restore/load-backup.ts'
import { resultOf, type CheckResult } from '../verify/checks.ts'
import { readDatabaseBytes } from '../verify/consistency-store.ts'
import type { KeyAtHand } from '../verify/key-at-hand.ts'
import { checkStore, loadResults } from '../verify/verify.ts'

export interface Rehearsing {
  readonly path: string
  /** Where the scratch datastore is made; it stays there for the boot. */
  readonly directory: string
  readonly key: KeyAtHand
  readonly warn: (message: string, cause?: unknown) => void
  readonly proof: BackupProof
}

/** A migration that was tried. */
export interface TriedMigration {
  readonly name: string
  /** Whole ms. */
  readonly duration_ms: number
  /** Why it failed; null where it did not. Later ones were not tried then. */
  readonly failure: string | null
}

/** An upgrade that was tried on a copy. */
export interface Rehearsal {
  readonly migrations: readonly TriedMigration[]
  /** Bytes of the database of the copy. */
  readonly bytes_before: number
  readonly bytes_after: number
  readonly checks: readonly CheckResult[]
}

/**
 * Loads a backup, whose archive was checked, into a scratch datastore in the schema of its time, and applies the later
 * migrations as a server that starts does: each in one transaction. Then it makes the checks of a verification.
 *
 * @throws BootError where the backup cannot be loaded at all
 */
export async function rehearse(rehearsing: Rehearsing): Promise<Rehearsal> {
  const { path, directory, key, warn, proof } = rehearsing
  const { schema } = proof
  const startedAt = performance.now()
  const datastore = await proof.openScratch(directory, warn)
  try {
    const loaded = await datastore.transaction('bulk', (tx) => loadBackup(tx, { path, isOwn: true, schema }))
    const loads = loadResults(loaded, performance.now() - startedAt)
    const bytesBefore = await readDatabaseBytes(datastore.pool('bulk'))
    const migrations = await tryMigrations(datastore, loaded.head.schema.length, schema)
    const isMigrated = migrations.every(({ failure }) => failure === null)
    const checks = [
      ...loads,
      migrationResult(migrations),
      ...(isMigrated ? await checkStore(datastore, { key, proof }) : []),
    ]
    const bytesAfter = await readDatabaseBytes(datastore.pool('bulk'))
    return { migrations, bytes_before: bytesBefore, bytes_after: bytesAfter, checks }
  } finally {
    await datastore.close()
  }
}

async function tryMigrations(datastore: Datastore, done: number, schema: BackupSchema): Promise<TriedMigration[]> {
  const tried: TriedMigration[] = []
  for (let count = done + 1; count <= schema.migrations.length; count++) {
    const startedAt = performance.now()
    const failure = await failureOf(schema.migrateTo(datastore, count))
    const duration = Math.round(performance.now() - startedAt)
    tried.push({ name: schema.migrations[count - 1] ?? '', duration_ms: duration, failure })
    if (failure !== null) break
  }
  return tried
}

/** A migration that fails here would keep the new version from starting: that is what was to be found out. */
async function failureOf(work: Promise<unknown>): Promise<string | null> {
  try {
    await work
    return null
  } catch (error) {
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return reason instanceof Error ? reason.message : String(reason)
  }
}

function migrationResult(migrations: readonly TriedMigration[]): CheckResult {
  const faults = migrations.flatMap(({ name, failure }) =>
    failure === null
      ? []
      : [`The migration ${name} fails (${failure}): stay at the version of the backup, and report it.`],
  )
  const ms = migrations.reduce((sum, { duration_ms: each }) => sum + each, 0)
  return resultOf('migrations', { count: migrations.length, what: 'migrations', faults }, ms)
}
