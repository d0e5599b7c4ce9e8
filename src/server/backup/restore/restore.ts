import type { BackupSchema } from '../../ports/backup-schema.ts'
import { BootError } from '../../ports/boot-error.ts'
import type { Db } from '../../ports/datastore.ts'
import type { RestoreTarget } from '../../ports/restore-target.ts'
import type { BackupHead } from '../archive/format.ts'
import { loadBackup } from './load-backup.ts'

export interface Restoring {
  readonly path: string
  readonly target: RestoreTarget
  readonly schema: BackupSchema
  /** Restarts what the restored rows number lower than nodes have seen it. Resolves with the number of nodes. */
  readonly restart: (tx: Db) => Promise<{ readonly lanes: number }>
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
export function restoreBackup({ path, target, schema, restart, beforeCommit }: Restoring): Promise<Restored> {
  return target.fill(async (tx) => {
    const { head, tables, rows, broken } = await loadBackup(tx, { path, isOwn: target.isOwn, schema })
    const [first] = broken
    if (first !== undefined)
      throw new BootError(
        1,
        `Rows of the table ${first.table} in the backup refer to rows that it does not have (${first.name}): use another backup.`,
      )
    const migrated = await schema.migrateWithin(tx)
    const { lanes } = await restart(tx)
    beforeCommit()
    return { head, tables, rows, migrated, lanes }
  })
}
