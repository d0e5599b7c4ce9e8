import type { Db } from './datastore.ts'

/** A public key that verifies event envelopes and session tokens (OKP Ed25519, RFC 8037). */
export interface VerificationKey {
  readonly kid: string
  /** 32 bytes. */
  readonly publicKey: Buffer
  /** When it was published; nothing that it signed is older. */
  readonly notBefore: Date
  /** From when on it signs. Later than its publication, but for the first key. */
  readonly signsFrom: Date
  /** Until when it verifies; undefined while no other key is to follow it. */
  readonly notAfter: Date | undefined
  /** `next`: published, signs later. `retired`: signs no more, still verifies. `expired`: verifies only records of its time. */
  readonly state: 'next' | 'current' | 'retired' | 'expired'
}

/** A change of the signing key: the new one is published at once and signs later. */
export interface KeyRotation {
  readonly next: VerificationKey
  /** The key that signs until then; its `notAfter` is set. */
  readonly previous: VerificationKey
  /** False when a rotation was pending already, and this is it. */
  readonly isNew: boolean
}

/** Signs with Ed25519. Keys are published before they sign and verify long after: they rotate by overlap. */
export interface Signer {
  sign(bytes: Uint8Array): Promise<{ kid: string; signature: Buffer }>
  /**
   * Keys that verify now: the current one first, then one that is to follow, then retired ones, newest first.
   * @throws Problem `signing_unavailable` when this process can no longer know what the others sign with.
   */
  keys(): readonly VerificationKey[]
  /** Keys that no longer verify what arrives, newest first, at most 1,000: audit chains are kept for longer than they live. */
  expired(): Promise<readonly VerificationKey[]>
  /** How long a verifier may keep `keys()`, in seconds: a key signs only once no older copy of the list is in use. */
  readonly keepSeconds: number
  /** Makes the next key in the caller's transaction, unless one is pending. */
  rotate(db: Db): Promise<KeyRotation>
  /** Reloads the keys. A process does so every few seconds; the caller of a rotation does it after the commit. */
  refresh(): Promise<void>
}
