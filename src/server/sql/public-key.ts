import { createPublicKey, diffieHellman, generateKeyPairSync } from 'node:crypto'
import { problem } from '../../shared/problems.ts'

/** DER of a SubjectPublicKeyInfo of X25519 up to its 32 key bytes (RFC 8410 §4). */
const SPKI_PREFIX = Buffer.from('302a300506032b656e032100', 'hex')

/** The field's prime, 2^255 - 19: a u-coordinate at or above it has a second spelling below. */
const PRIME = (1n << 255n) - 19n

/**
 * Canonical u-coordinates of small order on the curve and its twist (RFC 7748 §6.1): a secret shared with such a
 * point is all zeros whatever the private key. Their other spellings are not canonical and fall to that rule.
 */
const LOW_ORDER: ReadonlySet<bigint> = new Set([
  0n,
  1n,
  PRIME - 1n,
  325606250916557431795983626356110631294008115727848805560023387167927233504n,
  39382357235489614581723060781553021112529911719440698176882885853963445705823n,
])

const probe = generateKeyPairSync('x25519').privateKey

/**
 * Reads a Curve25519 public key from padded base64 and refuses what no honest X25519 makes: another length, a second
 * spelling of a point (it would pass for another key in the Domain), or a point of small order.
 *
 * @throws Problem `invalid_public_key`.
 */
export function parsePublicKey(base64: string): Buffer {
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length !== 32 || bytes.toString('base64') !== base64) throw problem('invalid_public_key')
  const u = BigInt(`0x${Buffer.from(bytes.toReversed()).toString('hex')}`)
  if (u >= PRIME || LOW_ORDER.has(u) || !agrees(bytes)) throw problem('invalid_public_key')
  return bytes
}

/** Whether a key agreement with the point succeeds; OpenSSL refuses an all-zero shared secret. */
function agrees(bytes: Buffer): boolean {
  try {
    const publicKey = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, bytes]), format: 'der', type: 'spki' })
    return diffieHellman({ privateKey: probe, publicKey }).some((byte) => byte !== 0)
  } catch {
    return false
  }
}
