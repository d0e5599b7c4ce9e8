import { problem, type Problem } from '../../shared/problems.ts'
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

/** Publishes the prepared key in the caller's transaction, unless a rotation is pending. */
export type RotationWrite = (db: Db) => Promise<KeyRotation>

/**
 * Signs with Ed25519. Keys are published before they sign and verify long after: they rotate by overlap.
 *
 * The keys may be in another service. Then every method that signs or prepares throws Problem `signing_unavailable` where
 * that service cannot be used; its cause is a `SignerError` that says why. Nothing was signed in that case.
 */
export interface Signer {
  /** Signs one text. Not to be called inside a transaction of the datastore. */
  sign(bytes: Uint8Array): Promise<{ kid: string; signature: Buffer }>
  /** Signs several texts with one key, all or none. Not to be called inside a transaction of the datastore. */
  signMany(batch: readonly Uint8Array[]): Promise<{ kid: string; signatures: readonly Buffer[] }>
  /**
   * Keys that verify now: the current one first, then one that is to follow, then retired ones, newest first.
   * @throws Problem `signing_unavailable` when this process can no longer know what the others sign with.
   */
  keys(): readonly VerificationKey[]
  /** Keys that no longer verify what arrives, newest first, at most 1,000: audit chains are kept for longer than they live. */
  expired(): Promise<readonly VerificationKey[]>
  /** How long a verifier may keep `keys()`, in seconds: a key signs only once no older copy of the list is in use. */
  readonly keepSeconds: number
  /** Makes the next key, unless one is pending. Not to be called inside a transaction; the write that it gives is for one. */
  prepareRotation(): Promise<RotationWrite>
  /** Reloads the keys. A process does so every few seconds; the caller of a rotation does it after the commit. */
  refresh(): Promise<void>
  /** What is known of the service that has the keys. Absent where they are in the datastore, which has a probe. */
  readonly status?: () => SignerStatus
}

/** How the service that has the signing keys answered. Known from the calls that were made: there is no probe (S1). */
export interface SignerStatus {
  /** Whether the last call succeeded; undefined before the first one has ended. */
  readonly isReachable: boolean | undefined
  /** Since when that is so. */
  readonly since: Date | undefined
  /** Why the last call failed; undefined where it succeeded. Without secrets, but with addresses: not for everyone. */
  readonly fault: SignerFault | undefined
  readonly detail: string | undefined
  /** Signatures refused since the start: wrong ones, or of another key version. */
  readonly refusedSignatures: number
}

/**
 * Why signatures cannot be made. `refused`: the service does not accept the server's credential. `key`: the key cannot be
 * used as it is. `signature`: the service gave a wrong signature. `moved`: the keys are of another signer.
 */
export type SignerFault =
  | 'unreachable'
  | 'timeout'
  | 'sealed'
  | 'full'
  | 'overloaded'
  | 'refused'
  | 'broken'
  | 'key'
  | 'signature'
  | 'moved'

/** Why the signer could not be used, for the log. The message is one clause and repeats nothing that the service wrote. */
export class SignerError extends Error {
  override readonly name = 'SignerError'
  readonly fault: SignerFault

  constructor(fault: SignerFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.fault = fault
  }
}

/** The problem of a signer that cannot be used. */
export function signingUnavailable(error: SignerError): Problem {
  return problem('signing_unavailable', {}, error)
}
