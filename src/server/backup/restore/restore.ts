import { restartAfterRestore } from '../../adapters/postgres/after-restore.ts'
import { migrateWithin, MIGRATIONS } from '../../adapters/postgres/migrate.ts'
import { BootError } from '../../ports/boot-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { BackupHead } from '../archive/format.ts'
import { loadBackup } from './load-backup.ts'
import type { RestoreTarget } from './restore-target.ts'

export interface Restoring {
  readonly path: string
  readonly target: RestoreTarget
  readonly clock: Clock
  /** Runs last, before the restored datastore counts: what fails there leaves the target empty. */
  readonly beforeCommit: () => void
}

/** A backup that is now the datastore of the configuration. */
export interface Restored {
  readonly head: BackupHead
  readonly tables: number
  readonly rows: number
  /** Migrations of this version that the backup did not have. */
  readonly migrated: readonly string[]
  /** Nodes whose events and state restart. */
  readonly lanes: number
}

/**
 * Restores a backup: its rows in the schema of its time, then the later migrations, then what `ctl admin after-restore`
 * does, all of it in one transaction.
 *
 * @throws BootError in one sentence; the target is empty then.
 */
export function restoreBackup({ path, target, clock, beforeCommit }: Restoring): Promise<Restored> {
  return target.fill(async (tx) => {
    const { head, tables, rows, broken } = await loadBackup(tx, { path, isOwn: target.isOwn })
    const [first] = broken
    if (first !== undefined)
      throw new BootError(
        1,
        `Rows of the table ${first.table} in the backup refer to rows that it does not have (${first.name}): use another backup.`,
      )
    const migrated = await migrateWithin(tx, MIGRATIONS)
    const { lanes } = await restartAfterRestore(tx, clock.now())
    beforeCommit()
    return { head, tables, rows, migrated, lanes }
  })
}
