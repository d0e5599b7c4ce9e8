import { BootError } from '../../ports/boot-error.ts'
import type { BackupHead } from '../archive/format.ts'

/**
 * Counts the migrations that made the schema of a backup: they are the first ones of this version's.
 *
 * @param known names of this version's migrations, in order
 * @throws BootError naming the first migration that this version does not have.
 */
export function countMigrations({ schema }: BackupHead, known: readonly string[]): number {
  const strange = schema.find((name, index) => known[index] !== name)
  if (strange === undefined) return schema.length
  throw new BootError(
    1,
    `The backup has the schema of a newer version (migration ${strange}): use that version of ctl, or an older backup.`,
  )
}
