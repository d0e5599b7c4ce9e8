import { join } from 'node:path'
import { BootError } from '../../ports/boot-error.ts'
import type { MasterKeySource } from '../../ports/master-key-source.ts'
import type { MasterKeys } from '../../ports/master-keys.ts'
import { placeSecretFile } from '../../ports/secret-file.ts'
import type { BackupHead, SealedSecrets } from '../archive/format.ts'

/** Which master key a restore needs, and where it is to be. */
export interface MasterKeyPlan {
  /**
   * Refuses a restore whose datastore could not be opened: the configured master key has to be that of the backup.
   *
   * @throws BootError naming both keys.
   */
  assertFits(source: MasterKeySource, head: BackupHead): void
  /**
   * Finds where the master key of the backup is to be written; undefined where it is there already.
   *
   * @throws BootError where another key is there: it is never overwritten.
   */
  placeFor(source: MasterKeySource, fingerprint: string): string | undefined
}

/** Creates the plan over the master keys of the configuration. */
export function createMasterKeyPlan(keys: MasterKeys): MasterKeyPlan {
  return {
    assertFits(source, { master_key: { fingerprint, included } }) {
      if (fingerprint === null) return
      const given = keys.read(source)
      if (given?.id === fingerprint || keys.readNext(source)?.id === fingerprint) return
      const where = 'path' in source ? source.path : 'SERVICE_MASTER_KEY'
      const found = given === undefined ? `there is none at ${where}` : `that of ${where} is ${given.id}`
      const way = included ? `, or run the command with --with-master-key` : ''
      throw new BootError(
        1,
        `The backup is sealed under master key ${fingerprint}, and ${found}: put the right one there, or name it with --master-key-file${way}.`,
      )
    },
    placeFor(source, fingerprint) {
      if (!('path' in source))
        throw new BootError(
          1,
          'SERVICE_MASTER_KEY gives the master key: leave out --with-master-key, or that variable.',
        )
      const there = keys.read({ kind: 'own', path: source.path })
      if (there === undefined) return source.path
      if (there.id === fingerprint) return undefined
      throw new BootError(
        1,
        `There is another master key in ${source.path}, ${there.id}, and the backup is sealed under ${fingerprint}: move that file away, or name another with --master-key-file.`,
      )
    },
  }
}

/**
 * Writes the key with mode 0600, on disk before it returns: whole or not at all.
 *
 * @throws BootError where it cannot be written, or a file was made there since `placeFor` looked.
 */
export function writeKey(path: string, { master_key: text }: SealedSecrets): void {
  if (!writeNew(path, `${text}\n`))
    throw new BootError(1, `A master key was made in ${path} during the restore: nothing was restored, run it again.`)
}

/**
 * Writes the certificate authority of `--tls-self-signed` where the server looks for it, unless there is one. Resolves
 * with its path; undefined where nothing was written.
 */
export function writeAuthority(dataDir: string, { tls_authority: text }: SealedSecrets): string | undefined {
  if (text === undefined) return undefined
  const path = join(dataDir, 'tls', 'authority.pem')
  return writeNew(path, text) ? path : undefined
}

/** Whether it was written: false where a file of that name exists, which stays. */
function writeNew(path: string, text: string): boolean {
  try {
    placeSecretFile(path, text)
    return true
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    if (code === 'EEXIST') return false
    throw new BootError(1, `The file ${path} cannot be written (${code}): make its directory writable.`, error)
  }
}
