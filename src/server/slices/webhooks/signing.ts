import { createHmac, createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { SealedPlace, Sealing } from '../../ports/keyring.ts'
import type { KeyRecord } from './keys-store.ts'

/** Of v1; Standard Webhooks wants 24 to 64 bytes. */
const SECRET_BYTES = 32
/** PKCS #8 of an Ed25519 key (RFC 8410): what comes before the 32 bytes of its seed. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')
const SEED_BYTES = 32

/** A key that was made. */
export interface MadeKey {
  readonly bytes: Buffer
  /** `whsec_…`, shown once; undefined with v1a. */
  readonly secret: string | undefined
  /** `whpk_…`; null with v1. */
  readonly publicKey: string | null
}

/** Makes a key of the scheme: a secret, or an Ed25519 key of which the private half never leaves the server. */
export function makeKey(scheme: 'v1' | 'v1a'): MadeKey {
  if (scheme === 'v1') {
    const bytes = randomBytes(SECRET_BYTES)
    return { bytes, secret: `whsec_${bytes.toString('base64')}`, publicKey: null }
  }
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const bytes = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-SEED_BYTES)
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-SEED_BYTES)
  return { bytes, secret: undefined, publicKey: `whpk_${raw.toString('base64')}` }
}

/** Where the bytes of a key are sealed. */
export function placeOf(keyId: string): SealedPlace {
  return { table: 'webhook_keys', column: 'sealed', rowId: keyId }
}

/** What is signed. */
export interface Signable {
  readonly id: string
  /** Seconds since the epoch. */
  readonly timestamp: number
  readonly body: string
}

/**
 * The signatures of all keys, as the header `webhook-signature` has them: separated by blanks. A key that cannot be opened is left
 * out, so that a new one is enough for a webhook to go on. Empty where none can be opened.
 */
export async function signaturesOf(
  sealing: Sealing,
  keys: readonly KeyRecord[],
  { id, timestamp, body }: Signable,
): Promise<string> {
  const content = Buffer.from(`${id}.${timestamp}.${body}`, 'utf8')
  const signatures = await Promise.all(
    keys.map(async ({ id: keyId, sealed, public_key: publicKey }) => {
      const bytes = await opened(sealing, keyId, sealed)
      if (bytes === undefined) return []
      return publicKey === null ? hmac(bytes, content) : ed25519(bytes, content)
    }),
  )
  return signatures.flat().join(' ')
}

/** Undefined where the bytes were altered, or sealed under a key that this server does not have. Neither passes by itself. */
async function opened(sealing: Sealing, keyId: string, sealed: Buffer): Promise<Buffer | undefined> {
  try {
    return await sealing.open(placeOf(keyId), sealed)
  } catch {
    return undefined
  }
}

function hmac(secret: Uint8Array, content: Buffer): string {
  return `v1,${createHmac('sha256', secret).update(content).digest('base64')}`
}

function ed25519(seed: Uint8Array, content: Buffer): string {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' })
  return `v1a,${sign(null, content, key).toString('base64')}`
}
