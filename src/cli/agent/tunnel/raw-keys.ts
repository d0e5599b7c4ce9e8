import { publicKeyOf as publicKeyOfRaw } from '../device/keys.ts'

/** Bytes of an X25519 key in PKCS #8 (RFC 8410): the key is at the end. */
const KEY_BYTES = 32

/** The 32 bytes of a private key in PKCS #8 DER, base64. */
export function rawPrivateKey(pkcs8: string): Uint8Array {
  return new Uint8Array(Buffer.from(pkcs8, 'base64').subarray(-KEY_BYTES))
}

/** The public key of a private key in PKCS #8 DER, both in base64. */
export function publicKeyOf(pkcs8: string): string {
  return publicKeyOfRaw(rawPrivateKey(pkcs8))
}
