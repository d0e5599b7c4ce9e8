import type { Db } from './datastore.ts'

/** Something that needs a secret of a Project, by its name. */
export interface SecretUser {
  /** Name of the secret. */
  readonly name: string
  /** `<type>:<id>`. */
  readonly object: string
  /** Null: the newest one, whichever that is. */
  readonly version: number | null
}

/** Finds what uses the secrets of a Project. A slice that stores references to secrets implements it. */
export interface SecretUsers {
  /**
   * The users of these secrets, by name and object. Called with the secrets' rows locked before one is deleted: a slice
   * that stores a new reference locks the row `for key share`.
   */
  find(
    db: Db,
    secrets: { readonly projectId: string; readonly names: readonly string[] },
  ): Promise<readonly SecretUser[]>
}
