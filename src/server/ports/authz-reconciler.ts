/** What a comparison of the registry with the authorization engine found and did. */
export interface Reconciliation {
  /** Tuples compared, on either side. */
  readonly checked: number
  /** Tuples that the engine lacked. */
  readonly granted: number
  /** Tuples that the engine had and the registry has not. */
  readonly revoked: number
  /** Tuples that stay different: the engine cannot hold them. */
  readonly unresolved: number
}

/** Makes the authorization engine's own copy of the tuples equal to the registry. */
export interface AuthzReconciler {
  /** Compares everything; safe at any time, and with any number of them at once. @throws Problem `authz_unavailable`. */
  reconcile(): Promise<Reconciliation>
}
