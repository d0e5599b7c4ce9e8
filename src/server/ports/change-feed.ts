import type { Db } from './datastore.ts'
import type { RelationTupleRow } from './tables/authz.ts'

/** The columns of a tuple that an index needs, as the registry holds them. */
export type FedTuple = Pick<
  RelationTupleRow,
  | 'id'
  | 'subject_type'
  | 'subject_id'
  | 'subject_relation'
  | 'relation'
  | 'resource_type'
  | 'resource_id'
  | 'caveat_name'
  | 'domain_id'
> & {
  /** The writer sends it to SpiceDB. Absent from processes without SpiceDB. */
  readonly mirrored?: true
}

/** A credential whose cached copies are void. */
export interface ChangedCredential {
  readonly kind: 'api-token' | 'nsk' | 'join-token' | 'session'
  readonly id: string
}

/** One committed change that caches must follow. Several share a revision when one transaction made them. */
export type FeedChange = { readonly revision: bigint } & (
  | { readonly kind: 'tuple_touched' | 'tuple_deleted'; readonly payload: FedTuple }
  | { readonly kind: 'credential_changed'; readonly payload: ChangedCredential }
  | { readonly kind: 'domain_changed'; readonly payload: { readonly domainId: string } }
  | { readonly kind: 'tuples_settled'; readonly payload: { readonly zedToken: string } }
)

/** Takes one change. Must not throw: a follower that cannot apply a change can no longer be trusted, and the feed stops. */
export type ApplyChange = (change: FeedChange) => void

/** Rebuilds what follows the feed from one snapshot of the datastore, taken at `revision`; changes after it come next. */
export type Reload = (snapshot: Db, revision: bigint) => Promise<void>

/**
 * The committed changes of tuples, credentials and Domain settings, followed by number (decisions: Consistency).
 * Caches built on it may be used only while `isFresh()`: the head was confirmed within the last second. On the
 * embedded store the exclusive lock is the lease.
 */
export interface ChangeFeed {
  isFresh(): boolean
  /**
   * Resolves with whether it is fresh again. A process that was suspended, or too busy to poll, waits for the next
   * confirmation, 2 s at most; while the datastore is away the answer is false at once.
   */
  untilFresh(): Promise<boolean>
  /** The last revision applied by every subscriber. */
  revision(): bigint
  /** Resolves once this process has applied the revision; rejects with `authz_unavailable` after `deadlineMs`. */
  waitFor(revision: bigint, deadlineMs: number): Promise<void>
  /**
   * Calls `apply` synchronously for each change, in order, gaps closed. `reload` is called at the start and whenever a
   * gap can no longer be closed because the changes in it were pruned. Subscribe before the feed is started.
   */
  subscribe(apply: ApplyChange, reload?: Reload): void
}
