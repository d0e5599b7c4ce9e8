import type { QueuedAction } from '../../shared/approval-actions.ts'
import type { Change } from './unit-of-work.ts'

/** What waits for somebody else's decision. */
export interface ApprovalRequest {
  /** Names the `ApprovalKind` that carries the decision out. */
  readonly kind: string
  /** `<type>:<id>`, what the decision is about. */
  readonly object: string
  /** The action whose policy says how many approvals are needed and for how long the request waits. */
  readonly action: QueuedAction
  /** Approvals that are needed, where that does not follow from the policies. */
  readonly requiredApprovals?: number | undefined
  /** The operation that requested it. */
  readonly operation: string
  /** One sentence for the people who decide. Names and ids; never a secret. */
  readonly summary: string
  readonly domainId: string | null
  readonly projectId: string | null
  /** The subject that requests; it can never decide. */
  readonly requestedBy: string
  /** What a subject must hold to decide. */
  readonly decide: { readonly relation: string; readonly object: string }
  readonly reason?: string | undefined
  readonly nowMs: number
}

/** The dual-control queue, as the slices that add to it see it (decisions: Approvals queue). */
export interface ApprovalQueue {
  /**
   * Adds a pending approval in the change that creates its object, and appends `ApprovalRequested`.
   * @throws Problem `approval_pending` where one with the same action and object is pending.
   */
  request(change: Change, request: ApprovalRequest): Promise<{ readonly id: string }>
  /**
   * Withdraws what is pending, as `system:approvals`: the object of the approvals is going away or was ended. Appends
   * `ApprovalWithdrawn` and writes an audit row for each. Does not call the kind: the caller ends its object itself.
   */
  withdraw(change: Change, approvalIds: readonly string[], nowMs: number): Promise<void>
  /** Withdraws everything that is pending in a Project that is being deleted. Call it before the row is deleted. */
  withdrawOfProject(change: Change, projectId: string, nowMs: number): Promise<void>
  /** Withdraws everything that is pending in a Domain that is being deleted. Call it before the row is deleted. */
  withdrawOfDomain(change: Change, domainId: string, nowMs: number): Promise<void>
}
