import { createHmac, hash, randomBytes, type KeyObject } from 'node:crypto'
import type { KeyPurpose, Keyring, Sealing, SealingKey } from '../../ports/keyring.ts'
import { openBytes, sealBytes, sealedUnder } from './sealed-bytes.ts'

/** A key of the ring, unwrapped. */
export interface RingKey extends SealingKey {
  readonly purpose: KeyPurpose
}

export const KEY_PURPOSES = [
  'cursor',
  'fingerprint',
  'pseudonym',
  'sealing',
  'session',
] as const satisfies readonly KeyPurpose[]

/** Keys by purpose, current first. */
export type Ring = Readonly<Record<KeyPurpose, readonly [RingKey, ...RingKey[]]>>

/** The ring over keys that are unwrapped already. */
export function createKeyring(ring: Ring): Keyring {
  // As few bytes as possible: it is part of every digest.
  const start = randomBytes(16).toString('base64url')
  return {
    cacheKey: (credential) => hash('sha256', start + credential, 'binary'),
    mac(purpose, data) {
      const [{ id, secret }] = ring[purpose]
      return { keyId: id, mac: hmac(secret, data) }
    },
    macWith(purpose, keyId, data) {
      const key = ring[purpose].find(({ id }) => id === keyId)
      return key && hmac(key.secret, data)
    },
    keyIds: (purpose) => ring[purpose].map(({ id }) => id),
  }
}

/** The secret store under the ring's sealing keys. */
export function createSealing({ sealing }: Ring): Sealing {
  return {
    seal: (place, plaintext) => sealBytes(sealing[0], place, plaintext),
    open(place, sealed) {
      const keyId = sealedUnder(sealed)
      const key = sealing.find(({ id }) => id === keyId)
      if (key === undefined) throw new Error(`nothing opens bytes sealed under key ${keyId ?? '(none)'}`)
      return openBytes(key, place, sealed)
    },
  }
}

function hmac(secret: KeyObject, data: string | Uint8Array): Buffer {
  return createHmac('sha256', secret).update(data).digest()
}
