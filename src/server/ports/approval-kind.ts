import type { Change } from './unit-of-work.ts'

/** An approval whose row the deciding transaction has locked. */
export interface DecidedApproval {
  readonly id: string
  readonly object: string
  readonly requestedBy: string
  /** The subjects that approved it, the last one included. */
  readonly approvedBy: readonly string[]
  readonly domainId: string | null
  readonly projectId: string | null
  readonly nowMs: number
  readonly correlationId: string
}

/** How a request ended without being approved. */
export type Ended = 'rejected' | 'withdrawn' | 'expired'

/** Carries out the decisions on approvals of one kind. A slice returns those that it owns as `approvalKinds`. */
export interface ApprovalKind {
  readonly kind: string
  /**
   * Repeats every check of the request inside the deciding transaction, then carries it out.
   *
   * @throws Problem `approval_stale` where what was requested can no longer be; any other problem leaves the approval
   *   pending and is the answer of the decision.
   */
  approve(change: Change, approval: DecidedApproval): Promise<void>
  /** Called once the approval is committed, before the decision is answered. It must not throw. */
  approved?(approvalId: string): Promise<void>
  /** Ends the object of a request that was not approved. */
  end(change: Change, approval: DecidedApproval, how: Ended): Promise<void>
}

/** The kinds of all slices. */
export interface ApprovalKinds {
  /** @throws Error for a name that no slice has given: a newer version of the server wrote the approval. */
  of(kind: string): ApprovalKind
}
