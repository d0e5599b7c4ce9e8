/** The bridge that names a directory: its own secrets may say where the directory is. */
export interface AcmePlace {
  readonly projectId: string
  readonly domainSlug: string
  readonly projectSlug: string
}

/** Checks the ACME directories that ingress rules name (S1 Public ingress rule, decisions: ACME). */
export interface AcmeDirectories {
  /**
   * Resolves where the directory answers with a usable document (RFC 8555 §7.1.1), now or within the last 60 s. `ref` is
   * an https URL, or a reference to a secret of the place whose value is the JSON of `directory_url` and perhaps
   * `eab_kid` with `eab_hmac_key`. It takes 5 s at most for the directory, and holds no connection of the datastore
   * meanwhile: it must not be called inside a transaction.
   *
   * @throws Problem `acme_directory_unreachable`, whose reason names no part of a secret, or `secret_store_unavailable`.
   */
  check(ref: string, place: AcmePlace): Promise<void>
}
