import { createPrivateKey, createPublicKey } from 'node:crypto'

const KEY_BYTES = 32
const BASE64_KEY = /^[A-Za-z0-9+/]{43}=$/
/** What precedes the key in PKCS #8 (RFC 8410). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex')
/** More than a key with white space around it. */
const SECRET_BYTES_MAX = 128

/** The 32 bytes of the private key that a secret has as `wg genkey` prints it; undefined where it has something else. */
export function privateKeyIn(secret: Uint8Array): Uint8Array | undefined {
  if (secret.byteLength > SECRET_BYTES_MAX) return undefined
  const text = Buffer.from(secret).toString('utf8').trim()
  if (!BASE64_KEY.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text && bytes.some((byte) => byte !== 0) ? bytes : undefined
}

/** The public key of a private one of 32 bytes, in base64. */
export function publicKeyOf(privateKey: Uint8Array): string {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, privateKey]), format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' })
  return Buffer.from(spki.subarray(-KEY_BYTES)).toString('base64')
}
