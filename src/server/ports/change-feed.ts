/** One committed change that caches must follow, in revision order. */
export interface FeedChange {
  readonly revision: bigint
  readonly kind: 'tuple_touched' | 'tuple_deleted' | 'credential_changed' | 'domain_changed'
  readonly payload: unknown
}

/**
 * The committed changes of tuples, credentials and Domain settings, followed by number (decisions: Consistency).
 * Caches built on it may be used only while `isFresh()`: the head was confirmed within the last second. On the
 * embedded store the exclusive lock is the lease.
 */
export interface ChangeFeed {
  isFresh(): boolean
  /** The last revision applied by every subscriber. */
  revision(): bigint
  /** Resolves once this process has applied the revision; rejects with `authz_unavailable` after `deadlineMs`. */
  waitFor(revision: bigint, deadlineMs: number): Promise<void>
  /** Calls `apply` synchronously for each change, in order, gaps closed. Subscribe before `start`. */
  subscribe(apply: (change: FeedChange) => void): void
}
