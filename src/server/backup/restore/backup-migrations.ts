import { BootError } from '../../ports/boot-error.ts'
import type { Migration } from '../../adapters/postgres/migration.ts'
import type { BackupHead } from '../archive/format.ts'

/**
 * The migrations that made the schema of a backup: the first ones of this version's list.
 *
 * @throws BootError naming the first migration that this version does not have.
 */
export function migrationsOf({ schema }: BackupHead, known: readonly Migration[]): readonly Migration[] {
  const strange = schema.find((name, index) => known[index]?.name !== name)
  if (strange === undefined) return known.slice(0, schema.length)
  throw new BootError(
    1,
    `The backup has the schema of a newer version (migration ${strange}): use that version of ctl, or an older backup.`,
  )
}
