import { problem, type Problem } from '../../shared/problems.ts'

/**
 * Keeps the secrets that users hand over, by path and version (decisions: Degradation, secrets, signing). Versions of a
 * path count from 1 and are not used twice while the path exists.
 *
 * Every method throws Problem `secret_store_unavailable` where the store is away, slow, sealed, full or refuses the
 * server; its cause is a `SecretStoreError` that says which. No error carries a secret. After such a failure of `put`
 * the version may have been written or not, and may be written later still.
 *
 * No method may be called inside a transaction of the datastore.
 */
export interface SecretStore {
  readonly kind: 'embedded' | 'openbao'
  /**
   * Writes the next version, if `cas` is the newest one now; 0 where the path must not exist. Gives the new version.
   * @throws SecretVersionConflict where another version is the newest one; nothing is written then.
   */
  put(path: string, bytes: Uint8Array, cas: number): Promise<number>
  /** Reads a version, by default the newest; undefined where there is none or it was destroyed. */
  get(path: string, version?: number): Promise<Buffer | undefined>
  /** Gives the number of the newest version, destroyed or not; 0 where the path does not exist. */
  newest(path: string): Promise<number>
  /** Destroys a version, or the path with all versions. What is gone already is no error. */
  destroy(path: string, version?: number): Promise<void>
  /** Resolves when the store answers and accepts the server's credential. */
  ping(): Promise<void>
}

/** A compare-and-set write whose version was not the newest one. */
export class SecretVersionConflict extends Error {
  override readonly name = 'SecretVersionConflict'
}

/** `refused`: the store does not accept the server's credential, or its policy does not allow the call. */
export type SecretStoreFault = 'unreachable' | 'timeout' | 'sealed' | 'full' | 'overloaded' | 'refused' | 'broken'

/** Why the secret store could not be used, for the log. The message names no secret. */
export class SecretStoreError extends Error {
  override readonly name = 'SecretStoreError'
  readonly fault: SecretStoreFault

  constructor(fault: SecretStoreFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.fault = fault
  }
}

/** The problem of a store that cannot be used. `message` names no secret. */
export function secretStoreUnavailable(fault: SecretStoreFault, message: string, cause?: unknown): Problem {
  return problem('secret_store_unavailable', {}, new SecretStoreError(fault, message, cause))
}
