import { linkSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { masterKeyOf, readMasterKey, readNextKey } from '../../adapters/keyring/master-key.ts'
import { BootError } from '../../ports/boot-error.ts'
import type { MasterKeySource } from '../../ports/master-key-source.ts'
import { syncDirectory, writeSecretFile } from '../../ports/secret-file.ts'
import type { BackupHead, SealedSecrets } from '../archive/format.ts'

/**
 * Refuses a restore whose datastore could not be opened: the configured master key has to be that of the backup.
 *
 * @throws BootError naming both keys.
 */
export function assertFits(source: MasterKeySource, { master_key: { fingerprint, included } }: BackupHead): void {
  if (fingerprint === null) return
  const given = readMasterKey(source)
  if (given?.id === fingerprint || readNextKey(source)?.id === fingerprint) return
  const where = 'path' in source ? source.path : 'SERVICE_MASTER_KEY'
  const found = given === undefined ? `there is none at ${where}` : `that of ${where} is ${given.id}`
  const way = included ? `, or run the command with --with-master-key` : ''
  throw new BootError(
    1,
    `The backup is sealed under master key ${fingerprint}, and ${found}: put the right one there, or name it with --master-key-file${way}.`,
  )
}

/**
 * Finds where the master key of the backup is to be written; undefined where it is there already.
 *
 * @throws BootError where another key is there: it is never overwritten.
 */
export function placeFor(source: MasterKeySource, fingerprint: string): string | undefined {
  if (!('path' in source))
    throw new BootError(1, 'SERVICE_MASTER_KEY gives the master key: leave out --with-master-key, or that variable.')
  const there = readMasterKey({ kind: 'own', path: source.path })
  if (there === undefined) return source.path
  if (there.id === fingerprint) return undefined
  throw new BootError(
    1,
    `There is another master key in ${source.path}, ${there.id}, and the backup is sealed under ${fingerprint}: move that file away, or name another with --master-key-file.`,
  )
}

/** @throws BootError unless the key in the backup is the one that its head names. */
export function assertOwnKey(path: string, secrets: SealedSecrets, fingerprint: string | null): void {
  const { id } = masterKeyOf(Buffer.from(secrets.master_key, 'base64'))
  if (id !== fingerprint)
    throw new BootError(
      1,
      `The master key in ${path} is ${id}, and the backup is sealed under ${fingerprint}: use another backup.`,
    )
}

/**
 * Writes the key with mode 0600, on disk before it returns: whole or not at all.
 *
 * @throws BootError where it cannot be written, or a file was made there since `placeFor` looked.
 */
export function writeKey(path: string, { master_key: text }: SealedSecrets): void {
  if (!writeBeside(path, `${text}\n`))
    throw new BootError(1, `A master key was made in ${path} during the restore: nothing was restored, run it again.`)
}

/**
 * Writes the certificate authority of `--tls-self-signed` where the server looks for it, unless there is one. Resolves
 * with its path; undefined where nothing was written.
 */
export function writeAuthority(dataDir: string, { tls_authority: text }: SealedSecrets): string | undefined {
  if (text === undefined) return undefined
  const path = join(dataDir, 'tls', 'authority.pem')
  return writeBeside(path, text) ? path : undefined
}

/** Whether it was written: false where a file of that name exists, which stays. */
function writeBeside(path: string, text: string): boolean {
  const staging = `${path}.${process.pid}`
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    rmSync(staging, { force: true })
    writeSecretFile(staging, text)
    linkSync(staging, path)
    syncDirectory(dirname(path))
    return true
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    if (code === 'EEXIST') return false
    throw new BootError(1, `The file ${path} cannot be written (${code}): make its directory writable.`, error)
  } finally {
    rmSync(staging, { force: true })
  }
}
