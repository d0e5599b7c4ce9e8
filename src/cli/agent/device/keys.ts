export { publicKeyOf } from '../../../client/agent/keys/wireguard-key.ts'

const KEY_BYTES = 32
const BASE64_KEY = /^[A-Za-z0-9+/]{43}=$/

/** The bytes of a key in base64; undefined: the text is no key of 32 bytes. */
export function keyOfBase64(text: string): Uint8Array | undefined {
  if (!BASE64_KEY.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}

/** The bytes of a key in hexadecimal; undefined: the text is no key of 32 bytes. */
export function keyOfHex(text: string): Uint8Array | undefined {
  if (text.length !== 2 * KEY_BYTES) return undefined
  // It ends at the first character that is no hexadecimal digit. A regular expression would take as long once more.
  const bytes = Buffer.from(text, 'hex')
  return bytes.byteLength === KEY_BYTES ? bytes : undefined
}

/** In base64, as peers are named. */
export function base64Of(key: Uint8Array): string {
  return Buffer.from(key).toString('base64')
}

/** In hexadecimal, as the userspace API takes keys. */
export function hexOf(key: Uint8Array): string {
  return Buffer.from(key).toString('hex')
}

/** WireGuard says "no preshared key" and "no private key" with a key of zeros; undefined then. */
export function unlessZero(key: Uint8Array | undefined): Uint8Array | undefined {
  return key?.some((byte) => byte !== 0) === true ? key : undefined
}

/** Whether two keys are the same. */
export function sameKey(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return Buffer.from(one).equals(other)
}

/** Whether these are 32 bytes. */
export function isKey(key: Uint8Array): boolean {
  return key.byteLength === KEY_BYTES
}
