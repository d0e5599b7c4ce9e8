import type { SignerStatus, VerificationKey } from '../../ports/signer.ts'

/** A public key with its instants. Its state depends on the current time. */
export type PublicKeyTimes = Omit<VerificationKey, 'state'>

/** A key as the datastore has it. */
export interface StoredKey {
  readonly public: PublicKeyTimes
  /** Name of the source that has its private half. */
  readonly signer: string
  /** Its version in the source; undefined where the source has none. */
  readonly version: number | undefined
  /** The private half, sealed; undefined where the source keeps it. */
  readonly sealed: Buffer | undefined
}

/** A key that is not stored yet. */
export interface NewKey {
  readonly publicKey: Buffer
  readonly version: number | undefined
  readonly sealed: Buffer | undefined
}

/** Signs a batch with one key, all or none, in the given order. @throws Problem `signing_unavailable`. */
export type SignBatch = (batch: readonly Uint8Array[]) => Promise<readonly Buffer[]>

/** Has private keys, and signs with them. No method may be called inside a transaction. */
export interface KeySource {
  /** Stored with each of its keys. */
  readonly name: string
  /** Where it is, for messages to the operator. */
  readonly address: string
  /** Prepares one of its keys to sign. */
  open(key: StoredKey): Promise<SignBatch>
  /** Makes a key, or gives one that it has and whose kid is not known yet. @throws Problem `signing_unavailable`. */
  create(knownKids: ReadonlySet<string>): Promise<NewKey>
  /** Present where the keys are in another service. */
  readonly remote?: RemoteKeys
}

/** What a source in another service can say of its keys. */
export interface RemoteKeys {
  /**
   * Asserts that the service has the newest of these stored keys, which are of this source, and that it can sign. Gives
   * the newest key of the service.
   *
   * @throws Problem `signing_unavailable`; its cause has the fault `key` where another state of the key is needed.
   */
  inspect(stored: readonly StoredKey[]): Promise<NewKey>
  readonly status: () => SignerStatus
  close(): Promise<void>
}
