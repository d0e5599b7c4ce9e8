/**
 * Keeps the secrets that users hand over, by path and version (decisions: Degradation, secrets, signing). Versions of a
 * path count from 1.
 *
 * Every method throws Problem `secret_store_unavailable` where the store is away, slow, sealed or full; the cause says
 * which. No error carries a secret.
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
  /** Gives the number of the newest version, destroyed or not; 0 where there is none. */
  newest(path: string): Promise<number>
  /** Destroys a version, or the path with all versions. What is gone already is no error. */
  destroy(path: string, version?: number): Promise<void>
  /** Resolves when the store answers and would take a write. */
  ping(): Promise<void>
}

/** A compare-and-set write whose version was not the newest one. */
export class SecretVersionConflict extends Error {
  override readonly name = 'SecretVersionConflict'
}
