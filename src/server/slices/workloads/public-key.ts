import { calculateJwkThumbprint, importJWK, type CryptoKey, type JWK } from 'jose'

/** A key of a stored set, unvalidated (RFC 7517 §4). */
export type StoredKey = Readonly<Record<string, unknown>>

interface KeyType {
  /** Members of the key itself; all others are dropped before the import. */
  readonly members: readonly string[]
  readonly algorithms: readonly string[]
}

const RSA: KeyType = {
  members: ['n', 'e'],
  algorithms: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
}
const EC = ['x', 'y', 'crv']

/** What each kind of key may verify. None is symmetric, so that no public key can be taken for a shared secret (RFC 8725 §3.1). */
const KEY_TYPES: Readonly<Record<string, KeyType>> = {
  'RSA ': RSA,
  'EC P-256': { members: EC, algorithms: ['ES256'] },
  'EC P-384': { members: EC, algorithms: ['ES384'] },
  'EC P-521': { members: EC, algorithms: ['ES512'] },
  'OKP Ed25519': { members: ['x', 'crv'], algorithms: ['EdDSA', 'Ed25519'] },
}

/** Every algorithm that some kind of key verifies. */
export const ASSERTION_ALGORITHMS: readonly string[] = [
  ...new Set(Object.values(KEY_TYPES).flatMap(({ algorithms }) => algorithms)),
]

/** Members that only private and symmetric keys have (RFC 7518 §6; RFC 8037 §2). */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

const typeOf = (key: StoredKey): KeyType | undefined => KEY_TYPES[`${text(key['kty'])} ${text(key['crv'])}`]

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The algorithms that the key verifies: those of its type, or the one that it names. Empty for a key that verifies nothing. */
export function algorithmsOf(key: StoredKey): readonly string[] {
  const { algorithms = [] } = typeOf(key) ?? {}
  return key['alg'] === undefined ? algorithms : algorithms.filter((name) => name === key['alg'])
}

/** Whether it is a public key of a kind that verifies assertions. */
export function isPublicKey(key: StoredKey): boolean {
  return algorithmsOf(key).length > 0 && !PRIVATE_MEMBERS.some((member) => member in key)
}

/** The `kid` of a key, or its thumbprint where the set gives it none (RFC 7638). */
export async function keyIdOf(key: StoredKey): Promise<string> {
  return typeof key['kid'] === 'string' ? key['kid'] : calculateJwkThumbprint(bare(key))
}

/** The key for one of its algorithms. `use` is left out: Web Crypto does not know `jwt-svid`. @throws when it is malformed or too short. */
export async function importKey(key: StoredKey, algorithm: string): Promise<CryptoKey> {
  const imported = await importJWK(bare(key), algorithm)
  if (imported instanceof Uint8Array) throw new Error('the key is symmetric')
  return imported
}

function bare(key: StoredKey): JWK {
  const members = ['kty', ...(typeOf(key)?.members ?? [])]
  return Object.fromEntries(members.map((name) => [name, text(key[name])]))
}
