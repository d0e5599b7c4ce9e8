import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { SealedPlace, SealingKey } from '../../ports/keyring.ts'

const FORMAT = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Seals with AES-256-GCM: `format (1) | id length (1) | key id | nonce (12) | ciphertext | tag (16)`. The associated data
 * is table, column, row id and key id, so that the bytes open in no other place (decisions: Keys).
 */
export function sealBytes(key: SealingKey, place: SealedPlace, plaintext: Uint8Array): Buffer {
  const id = Buffer.from(key.id, 'ascii')
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key.secret, nonce).setAAD(associatedData(place, key.id))
  const ciphertext = [cipher.update(plaintext), cipher.final()]
  return Buffer.concat([Buffer.from([FORMAT, id.length]), id, nonce, ...ciphertext, cipher.getAuthTag()])
}

/** The id of the key that sealed the bytes; undefined when they are no sealed bytes. */
export function sealedUnder(sealed: Uint8Array): string | undefined {
  const [format, idLength = 0] = sealed
  if (format !== FORMAT || idLength === 0 || sealed.length < 2 + idLength + NONCE_BYTES + TAG_BYTES) return undefined
  return Buffer.from(sealed.subarray(2, 2 + idLength)).toString('ascii')
}

/** Opens bytes sealed in that place. @throws Error when they were moved, altered or sealed under another key. */
export function openBytes(key: SealingKey, place: SealedPlace, sealed: Uint8Array): Buffer {
  if (sealedUnder(sealed) !== key.id) throw new Error(`the bytes are not sealed under key ${key.id}`)
  const nonceAt = 2 + key.id.length
  const nonce = sealed.subarray(nonceAt, nonceAt + NONCE_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key.secret, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(associatedData(place, key.id)).setAuthTag(sealed.subarray(-TAG_BYTES))
  return Buffer.concat([decipher.update(sealed.subarray(nonceAt + NONCE_BYTES, -TAG_BYTES)), decipher.final()])
}

/** Joined by NUL, which none of the parts may hold: no two places give the same bytes. */
function associatedData({ table, column, rowId }: SealedPlace, keyId: string): Buffer {
  return Buffer.from([table, column, rowId, keyId].join('\0'))
}
