import type { Db } from './datastore.ts'
import type { Change } from './unit-of-work.ts'

/** A secret that is written, as the slice that owns it sees it. */
export interface SecretToWrite {
  /** What the secret belongs to, such as `cloudcredential:<id>`. It has one write at a time. */
  readonly owner: string
  /** Where it is kept. Made of ids, so that no path is used for a second secret. */
  readonly path: string
  readonly bytes: Uint8Array
  /**
   * Reads the newest version that the owner has now, 0 where it has none. Called in a transaction in which nobody else
   * can give it another one. What it throws ends the write.
   */
  readonly base: (tx: Db) => Promise<number>
}

/** A version that is in the store and that nobody owns yet. */
export interface WrittenSecret {
  /** Above every version that the owner ever had. */
  readonly version: number
  /**
   * Makes the version permanent. To be called in the change that writes the owner's row.
   * @throws Problem `secret_write_in_progress` where the write took so long that it was discarded.
   */
  readonly claim: (change: Change) => Promise<void>
}

/** What is destroyed behind a change. */
export interface DestroyedSecret {
  readonly owner: string
  readonly path: string
  /** Undefined: every version. */
  readonly version?: number | undefined
}

/**
 * Writes secrets so that none is without its owner's row and no row without its secret, whatever ends half-way
 * (decisions: Degradation, secrets, signing). Each write is an intent, then the version in the store, then the owner's row;
 * `secrets-reconcile` discards what is interrupted, and destroys what changes leave behind.
 */
export interface SecretWrites {
  /**
   * Puts a version in the store, then runs `own`, which writes the owner's row and claims the version in one change. Where
   * `own` throws, the version is discarded.
   *
   * @throws Problem `secret_write_in_progress` where another write of the same owner has not ended,
   *   `secret_store_unavailable`, what `base` throws, and what `own` throws. The owner's row is then unchanged.
   */
  write<T>(secret: SecretToWrite, own: (written: WrittenSecret) => Promise<T>): Promise<T>
  /** Has a secret destroyed once the change is committed. Needs no store. */
  destroyBehind(change: Change, destroyed: DestroyedSecret): Promise<void>
}
