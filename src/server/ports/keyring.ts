import type { KeyObject } from 'node:crypto'

/** What a key of the ring is for. Each purpose has one current key; retired ones still verify and open. */
export type KeyPurpose = 'cursor' | 'fingerprint' | 'pseudonym' | 'sealing' | 'session'

/** Random per-purpose keys, wrapped by the master key (decisions: Keys). Synchronous: the ring is in memory after start. */
export interface Keyring {
  /** HMAC-SHA-256 under the current key of the purpose. */
  mac(purpose: KeyPurpose, data: string | Uint8Array): { keyId: string; mac: Buffer }
  /** HMAC-SHA-256 under a named key; undefined when the ring has no such key of that purpose. */
  macWith(purpose: KeyPurpose, keyId: string, data: string | Uint8Array): Buffer | undefined
  /**
   * A text that represents a credential in the caches of this process: a digest that starts from bytes drawn at start, so
   * that nobody can choose what it collides with or learns from how long a comparison takes. Costs a tenth of `mac`. Never stored.
   */
  cacheKey(credential: string): string
  /** Ids of every key of the purpose, current first. */
  keyIds(purpose: KeyPurpose): readonly string[]
}

/** A key that seals: the master key, or one of the ring. */
export interface SealingKey {
  /** 1 to 255 ASCII characters. */
  readonly id: string
  /** 32 bytes. A `KeyObject`, since raw bytes would be imported at each use. */
  readonly secret: KeyObject
}

/** Which stored value is sealed; part of the associated data, so that sealed bytes cannot be moved to another row. */
export interface SealedPlace {
  readonly table: string
  readonly column: string
  readonly rowId: string
}

/** Keeps secrets at rest. AES-256-GCM with AAD = table, column, row id, key id. */
export interface Sealing {
  seal(place: SealedPlace, plaintext: Uint8Array): Promise<Buffer> | Buffer
  /** @throws Error when the bytes were moved, altered or sealed under a key that the ring does not have. */
  open(place: SealedPlace, sealed: Uint8Array): Promise<Buffer> | Buffer
}
