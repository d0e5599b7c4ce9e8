import { resolve } from 'node:path'
import { checkArchive, readHead, type CheckedArchive } from '../backup/archive/read-archive.ts'
import type { SealedSecrets } from '../backup/archive/format.ts'
import { countMigrations } from '../backup/restore/backup-migrations.ts'
import { openSealedKey } from '../backup/restore/open-sealed-key.ts'
import { resultOf, type CheckResult } from '../backup/verify/checks.ts'
import { masterKeys } from '../composition/backup-proof.ts'
import type { BackupSchema } from '../ports/backup-schema.ts'
import { BootError } from '../ports/boot-error.ts'
import type { AdminCall } from './admin.ts'
import { givenPassphrase } from './passphrase.ts'

/** A backup that is whole and that this version can load. */
export interface CheckedBackup extends CheckedArchive {
  /** Absolute. */
  readonly path: string
  /** The result of the check. */
  readonly result: CheckResult
}

/**
 * Checks a backup from its beginning to its end. What its first entry shows is refused before all of it is read.
 *
 * @throws BootError in one sentence
 */
export async function checkedBackup(operand: string, schema: BackupSchema): Promise<CheckedBackup> {
  const path = resolve(operand)
  const startedAt = performance.now()
  countMigrations(await readHead(path), schema.migrations)
  const archive = await checkArchive(path)
  const looked = { count: archive.manifest.entries.length, what: 'entries', faults: [] }
  return { ...archive, path, result: resultOf('archive', looked, performance.now() - startedAt) }
}

/**
 * Opens the master key in a backup by its passphrase.
 *
 * @throws BootError where it has none, or the passphrase is another one; ConfigError where there is no passphrase
 */
export async function openSecrets(
  { path, head, headSha256, sealedKey: sealed }: CheckedBackup,
  call: AdminCall,
  file: string | undefined,
): Promise<SealedSecrets> {
  if (sealed === undefined)
    throw new BootError(
      1,
      `There is no master key in ${path}: give the key where ctl serve reads it, and no passphrase.`,
    )
  const passphrase = await givenPassphrase(call, file)
  const secrets = await openSealedKey({ path, sealed, headSha256 }, passphrase)
  assertOwnKey(path, secrets, head.master_key.fingerprint)
  return secrets
}

/** @throws BootError unless the key in the backup is the one that its head names. */
function assertOwnKey(path: string, secrets: SealedSecrets, fingerprint: string | null): void {
  const { id } = masterKeys.keyOf(Buffer.from(secrets.master_key, 'base64'))
  if (id !== fingerprint)
    throw new BootError(
      1,
      `The master key in ${path} is ${id}, and the backup is sealed under ${fingerprint}: use another backup.`,
    )
}
