import { bytesOf, type SignatureKey } from './signed-position.ts'

/**
 * Reads a JWK Set (RFC 7517 §5) of Ed25519 keys (RFC 8037 §2), as `GET /v1/signing-keys` answers it. `nbf` and `exp`, in
 * seconds since the epoch, bound what a key may have signed. Keys of other types are skipped (RFC 7517 §5).
 * @throws TypeError in one sentence where it is no such set, or holds no key that could be used.
 */
export function readKeySet(value: unknown): readonly SignatureKey[] {
  const keys = isObject(value) ? value['keys'] : undefined
  if (!Array.isArray(keys)) throw new TypeError('it is no JWK Set: there is no array "keys"')
  const read = keys.filter(isEd25519).map(keyOf)
  if (read.length === 0) throw new TypeError('it holds no Ed25519 key (kty OKP, crv Ed25519)')
  return read
}

type Members = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isEd25519(value: unknown): value is Members {
  return isObject(value) && value['kty'] === 'OKP' && value['crv'] === 'Ed25519'
}

function keyOf({ kid, x, nbf, exp }: Members): SignatureKey {
  if (typeof kid !== 'string' || kid === '') throw new TypeError('one of its keys has no "kid"')
  const publicKey = typeof x === 'string' ? bytesOf(x) : undefined
  if (publicKey?.length !== 32) throw new TypeError(`its key ${kid} has no "x" of 32 bytes in base64url`)
  return { kid, publicKey, notBeforeMs: msOf(nbf), notAfterMs: msOf(exp) }
}

function msOf(seconds: unknown): number | undefined {
  return typeof seconds === 'number' ? seconds * 1000 : undefined
}
