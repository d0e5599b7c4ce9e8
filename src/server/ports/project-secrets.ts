/** Names a secret of a Project, and perhaps one version of it. */
export interface NamedSecret {
  readonly projectId: string
  readonly name: string
  /** Undefined: the newest one. */
  readonly version: number | undefined
}

/** The value of one version of a secret. */
export interface SecretValue {
  readonly version: number
  readonly value: Buffer
}

/** Reads secrets of Projects for what is configured to use them. Who may use a secret is decided before. */
export interface ProjectSecrets {
  /**
   * Reads a version that was not deleted; undefined where there is none. Holds no connection of the datastore while the
   * secret store is called. It must not be called inside a transaction.
   *
   * @throws Problem `secret_store_unavailable`
   */
  read(secret: NamedSecret): Promise<SecretValue | undefined>
}
