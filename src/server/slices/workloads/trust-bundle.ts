import { algorithmsOf, isPublicKey, type StoredKey } from './public-key.ts'

/** Keys of one bundle; a trust domain publishes a handful. */
const KEYS_MAX = 64

/** JWT-SVID §2.1: those of RSA and of the NIST curves. */
export const SVID_ALGORITHM = /^(RS|ES|PS)(256|384|512)$/

/** The shortest time between two refreshes of a bundle (SPIFFE Trust Domain and Bundle §4.1.4: the hint is a suggestion). */
const REFRESH_SECONDS_MIN = 60
const REFRESH_SECONDS_MAX = 86_400
const REFRESH_SECONDS_DEFAULT = 300

/** The parts of a bundle that a Domain needs. */
export interface TrustBundle {
  /** The keys that verify JWT-SVIDs, each with a `kid`. */
  readonly keys: readonly StoredKey[]
  readonly refreshSeconds: number
}

/**
 * Reads a SPIFFE bundle document: a JWK Set whose keys of use `jwt-svid` verify JWT-SVIDs; those of other uses are left
 * out, and so are key types that JWT-SVIDs do not use. A set without keys means that all were withdrawn.
 *
 * @throws Error in one sentence when it is no bundle.
 */
export function readTrustBundle(document: unknown): TrustBundle {
  if (!isObject(document)) throw new Error('a bundle is a JWK Set')
  const { keys, spiffe_refresh_hint: hint } = document
  if (!Array.isArray(keys) || keys.length > KEYS_MAX)
    throw new Error(`a bundle has an array of at most ${KEYS_MAX} keys`)
  return { keys: keys.filter(isForJwtSvids).map(checked), refreshSeconds: refreshSecondsOf(hint) }
}

/** A key of an unknown type must not prevent the use of the others. */
function isForJwtSvids(key: unknown): key is StoredKey {
  if (!isObject(key)) throw new Error('a key is an object')
  return key['use'] === 'jwt-svid' && algorithmsOf(key).some((name) => SVID_ALGORITHM.test(name))
}

function checked(key: StoredKey, index: number, keys: readonly StoredKey[]): StoredKey {
  const { kid } = key
  if (typeof kid !== 'string' || kid === '') throw new Error('a key for JWT-SVIDs has a kid')
  if (keys.findIndex((other) => other['kid'] === kid) !== index) throw new Error('no two keys share a kid')
  if (!isPublicKey(key)) throw new Error('a key for JWT-SVIDs is public')
  return key
}

function refreshSecondsOf(hint: unknown): number {
  const seconds = typeof hint === 'number' && Number.isFinite(hint) ? Math.floor(hint) : REFRESH_SECONDS_DEFAULT
  return Math.min(REFRESH_SECONDS_MAX, Math.max(REFRESH_SECONDS_MIN, seconds))
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
