/** What a comparison of the engine with the registry found, in tuples. */
export interface Reconciliation {
  readonly checked: number
  /** Tuples that the engine lacked and has now. */
  readonly granted: number
  /** Tuples that the engine had and the registry has not; they are gone from it. */
  readonly revoked: number
  /** Differences that remain. */
  readonly unresolved: number
}

/** Compares what the authorization engine knows with the registry, and mends what a crash or a loss left different. */
export interface AuthzReconciler {
  /** @throws Problem `authz_unavailable` when the two cannot be compared now. */
  reconcile(): Promise<Reconciliation>
}
