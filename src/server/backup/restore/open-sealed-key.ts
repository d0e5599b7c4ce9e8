import { createDecipheriv, scrypt } from 'node:crypto'
import { BootError } from '../../ports/boot-error.ts'
import { sealedSecrets, type SealedKey, type SealedSecrets } from '../archive/format.ts'

const KEY_BYTES = 32
const TAG_BYTES = 16
/** The largest parameters of the format take 256 MiB, and a little. */
const MEMORY_MAX = 300 * 1024 * 1024

/** A master key in a backup, and the backup that it belongs to. */
export interface KeyOfBackup {
  readonly path: string
  readonly sealed: SealedKey
  readonly headSha256: Buffer
}

/**
 * Decrypts the secrets in a backup.
 *
 * @throws BootError where the passphrase is another one, or the entry belongs to another backup.
 */
export async function openSealedKey(
  { path, sealed, headSha256 }: KeyOfBackup,
  passphrase: string,
): Promise<SealedSecrets> {
  const key = await derive(passphrase, sealed)
  try {
    const bytes = Buffer.from(sealed.ciphertext, 'base64url')
    const nonce = Buffer.from(sealed.nonce, 'base64url')
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(headSha256).setAuthTag(bytes.subarray(-TAG_BYTES))
    const text = Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]).toString('utf8')
    return sealedSecrets.parse(JSON.parse(text))
  } catch (error) {
    throw new BootError(
      1,
      `The master key in ${path} does not open with this passphrase: give the one that the backup was made with.`,
      error,
    )
  } finally {
    key.fill(0)
  }
}

function derive(passphrase: string, { n, r, p, salt }: SealedKey): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parameters = { N: n, r, p, maxmem: MEMORY_MAX }
    scrypt(passphrase.normalize('NFC'), Buffer.from(salt, 'base64url'), KEY_BYTES, parameters, (error, key) => {
      if (error === null) resolve(key)
      else reject(error)
    })
  })
}
