import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { readFileSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { placeSecretFile, removeStaging, syncDirectory } from '../../ports/secret-file.ts'
import { BootError } from '../../ports/boot-error.ts'
import type { SealingKey } from '../../ports/keyring.ts'
import type { MasterKeySource } from '../../ports/master-key-source.ts'

const KEY_BYTES = 32

/** A master key by its bytes. Its id distinguishes keys and reveals nothing about them. */
export function masterKeyOf(bytes: Buffer): SealingKey {
  const id = createHmac('sha256', bytes).update('ctl master key id').digest('hex').slice(0, 12)
  return { id: `mk-${id}`, secret: createSecretKey(bytes) }
}

/**
 * Reads the master key; undefined when the server must create it and has not done so yet.
 * @throws BootError when the file cannot be read or holds no key.
 */
export function readMasterKey(source: MasterKeySource): SealingKey | undefined {
  if (source.kind === 'given') return masterKeyOf(source.key)
  if (source.kind === 'throwaway') return masterKeyOf(randomBytes(KEY_BYTES))
  const text = readKeyFile(source)
  if (text === undefined) return undefined
  const bytes = Buffer.from(text.trim(), 'base64')
  if (bytes.length === KEY_BYTES && bytes.toString('base64') === text.trim()) return masterKeyOf(bytes)
  throw new BootError(1, `The master key file ${source.path} must hold 32 bytes in base64; put the right key there.`)
}

/** Path of the key that will replace the one in the file; undefined where the key is in no file. */
export function nextPathOf(source: MasterKeySource): string | undefined {
  return 'path' in source ? `${source.path}.next` : undefined
}

/** Reads the next key; undefined when there is none. */
export function readNextKey(source: MasterKeySource): SealingKey | undefined {
  const path = nextPathOf(source)
  return path === undefined ? undefined : readMasterKey({ kind: 'own', path })
}

/**
 * Makes a master key in a file of mode 0600, on disk before it returns: what is sealed under it outlives this process.
 *
 * @param advice what to do when it cannot be written, the end of a sentence
 * @throws BootError when it cannot be written, or a file exists already.
 */
export function makeMasterKey(
  path: string,
  advice = 'give a --data-dir that can be written, or SERVICE_MASTER_KEY',
): SealingKey {
  const bytes = randomBytes(KEY_BYTES)
  try {
    placeSecretFile(path, `${bytes.toString('base64')}\n`)
  } catch (error) {
    throw new BootError(1, `The master key cannot be written to ${path} (${codeOf(error)}); ${advice}.`, error)
  }
  return masterKeyOf(bytes)
}

/**
 * Replaces the key in the file with the next one, on disk before it returns.
 * @throws BootError when it cannot.
 */
export function promoteNextKey(source: { readonly path: string }): void {
  const next = `${source.path}.next`
  try {
    renameSync(next, source.path)
    removeStaging(source.path)
    removeStaging(next)
    syncDirectory(dirname(source.path))
  } catch (error) {
    throw new BootError(
      1,
      `The keyring is wrapped under the key in ${next}, which cannot be moved to ${source.path} (${codeOf(error)}); move it there.`,
      error,
    )
  }
}

/** Says what is wrong with the mode of the key's file; undefined when nobody else can read it, or there is no file. */
export function looseMode(source: MasterKeySource): string | undefined {
  if (!('path' in source)) return undefined
  const mode = statSync(source.path, { throwIfNoEntry: false })?.mode ?? 0
  return (mode & 0o077) === 0
    ? undefined
    : `Others can read the master key ${source.path}; run: chmod 600 ${source.path}`
}

function readKeyFile(source: { readonly kind: 'file' | 'own'; readonly path: string }): string | undefined {
  try {
    return readFileSync(source.path, 'utf8')
  } catch (error) {
    if (source.kind === 'own' && codeOf(error) === 'ENOENT') return undefined
    throw new BootError(
      1,
      `The master key file ${source.path} cannot be read (${codeOf(error)}); check the path and its mode.`,
      error,
    )
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
