import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'

/** Fingerprint of compiled rules: SHA-256 of their canonical text in padded base64, 44 characters. */
export function fingerprintOf(text: string): string {
  return btoa(String.fromCharCode(...sha256(utf8ToBytes(text))))
}
