import { gcm } from '@noble/ciphers/aes.js'

export const NONCE_BYTES = 12
export const TAG_BYTES = 16

/**
 * `wrong_length`: it is shorter or longer than such an envelope can be; `not_authentic`: it was sealed under another key or
 * for another place, or it was altered. Neither reveals anything about the content.
 */
export type EnvelopeFault = 'wrong_length' | 'not_authentic'

/** What an envelope is sealed with: the 32 key bytes of a node secret key, and a nonce that is used once. */
export interface EnvelopeSeal {
  readonly key: Uint8Array
  readonly nonce: Uint8Array
}

/**
 * Opens `nonce (12) | ciphertext | tag (16)` of AES-256-GCM; undefined where it is not authentic. The caller checks the
 * length.
 *
 * @throws RangeError where the key has another length than 32 bytes.
 */
export function openUnderNsk(envelope: Uint8Array, key: Uint8Array, aad: Uint8Array): Uint8Array | undefined {
  const cipher = gcm(checked(key), envelope.subarray(0, NONCE_BYTES), aad)
  try {
    return cipher.decrypt(envelope.subarray(NONCE_BYTES))
  } catch {
    return undefined
  }
}

/**
 * Seals as the server does. @throws RangeError where the key has another length than 32 bytes, or the nonce than 12.
 */
export function sealUnderNsk(content: Uint8Array, { key, nonce }: EnvelopeSeal, aad: Uint8Array): Uint8Array {
  if (nonce.length !== NONCE_BYTES) throw new RangeError('the nonce of an envelope is 12 bytes')
  return new Uint8Array([...nonce, ...gcm(checked(key), nonce, aad).encrypt(content)])
}

function checked(key: Uint8Array): Uint8Array {
  if (key.length !== 32) throw new RangeError('the key bytes of a node secret key are 32')
  return key
}
