import { createCipheriv, createHash, randomBytes, scrypt, type BinaryLike, type ScryptOptions } from 'node:crypto'
import { promisify } from 'node:util'
import type { SealedKey, SealedSecrets } from './format.ts'

const COST = { n: 2 ** 17, r: 8, p: 1 } as const
const KEY_BYTES = 32
const SALT_BYTES = 16
const NONCE_BYTES = 12
/** Twice what the cost takes: 128 * n * r bytes. */
const MEMORY_MAX = 2 * 128 * COST.n * COST.r

const derive = promisify<BinaryLike, BinaryLike, number, ScryptOptions, Buffer>(scrypt)

/**
 * Encrypts the secrets of the server by a passphrase, bound to the head of the backup that they are in.
 *
 * @param head the bytes of `backup.json`
 */
export async function sealSecrets(secrets: SealedSecrets, passphrase: string, head: string): Promise<SealedKey> {
  const salt = randomBytes(SALT_BYTES)
  const nonce = randomBytes(NONCE_BYTES)
  const options = { N: COST.n, r: COST.r, p: COST.p, maxmem: MEMORY_MAX }
  const key = await derive(passphrase.normalize('NFC'), salt, KEY_BYTES, options)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(createHash('sha256').update(head).digest())
  const ciphertext = Buffer.concat([
    cipher.update(JSON.stringify(secrets), 'utf8'),
    cipher.final(),
    cipher.getAuthTag(),
  ])
  return {
    kdf: 'scrypt',
    ...COST,
    salt: salt.toString('base64url'),
    cipher: 'aes-256-gcm',
    nonce: nonce.toString('base64url'),
    ciphertext: ciphertext.toString('base64url'),
  }
}
