import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { closeSync, constants, fsyncSync, mkdirSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { BootError } from '../../boot-error.ts'
import type { SealingKey } from './sealed-bytes.ts'

/** Where the master key comes from. */
export type MasterKeySource =
  | { readonly kind: 'given'; readonly key: Buffer }
  | { readonly kind: 'file'; readonly path: string }
  /** Made at the first start, when nothing is sealed yet. */
  | { readonly kind: 'own'; readonly path: string }
  /** For a datastore that ends with the process. */
  | { readonly kind: 'throwaway' }

const KEY_BYTES = 32
/** Never follow a link that somebody laid, never write over a file. */
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/** A master key by its bytes. Its id tells keys apart and gives nothing of them away. */
export function masterKeyOf(bytes: Buffer): SealingKey {
  const id = createHmac('sha256', bytes).update('ctl master key id').digest('hex').slice(0, 12)
  return { id: `mk-${id}`, secret: createSecretKey(bytes) }
}

/**
 * Reads the master key; undefined when it is to be the server's own and has not been made yet.
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

/**
 * Makes the server's own master key, mode 0600, on disk before it returns: what is sealed under it outlives this process.
 * @throws BootError when it cannot be written.
 */
export function makeMasterKey(path: string): SealingKey {
  const bytes = randomBytes(KEY_BYTES)
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const file = openSync(path, NEW_FILE, 0o600)
    try {
      writeSync(file, `${bytes.toString('base64')}\n`)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    syncDirectory(dirname(path))
  } catch (error) {
    throw new BootError(
      1,
      `The master key cannot be written to ${path} (${codeOf(error)}); give a --data-dir that can be written, or SERVICE_MASTER_KEY.`,
      error,
    )
  }
  return masterKeyOf(bytes)
}

/** Says what is wrong with the mode of the server's own key file; undefined when nobody else can read it. */
export function looseMode(source: MasterKeySource): string | undefined {
  if (source.kind !== 'own') return undefined
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

function syncDirectory(path: string): void {
  const directory = openSync(path, constants.O_RDONLY)
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
