import type { TupleColumns } from '../../shared/authz/tuple.ts'

/** Subject, relation and resource: SpiceDB keeps one relationship for them, whatever caveats its tuples have. */
export type Binding = Pick<
  TupleColumns,
  'subject_type' | 'subject_id' | 'subject_relation' | 'relation' | 'resource_type' | 'resource_id'
>

/**
 * An engine with a copy of its own of every tuple. The registry says what is to be, by the states of its rows: what a
 * change committed as `pending` or `revoking` is settled after the commit, by a caller that made it or, where a crash cut that,
 * by the reconciler. Settling is idempotent.
 */
export interface TupleMirror {
  /** Refuses a change of tuples before anything is written. @throws Problem `authz_unavailable` while the engine does not answer. */
  assertReachable(): void
  /**
   * Makes the copy of these bindings what the registry says, and then the registry say that it is so.
   * @throws Problem `authz_unavailable`; the states then stay, for the reconciler.
   */
  settle(bindings: readonly Binding[]): Promise<void>
}
