import type { Db } from './datastore.ts'
import type { Change } from './unit-of-work.ts'

/** A call as it arrived, so that it can be made again. */
export interface SentCall {
  readonly method: string
  /** With its query. */
  readonly url: string
  /** The body's JSON text; empty where it has none. */
  readonly body: string
  /** What the call is conditional on: it is refused once approved, where somebody else changed the object meanwhile. */
  readonly ifMatch?: string | undefined
  /** Facts about the caller that caveats read. */
  readonly sourceAddress: string
  readonly acr?: string | undefined
  readonly authTimeMs?: number | undefined
}

/** What makes a call wait: the action that a policy names, and what it would be done to. */
export interface HeldFor {
  readonly action: string
  /** `<type>:<id>`; one call of the action waits for it at a time. */
  readonly object: string
  /** The Domain whose policy counts; null for the platform. */
  readonly domainId: string | null
  /** Approvals that are needed, where that does not follow from the policies: the call is held whatever they name. */
  readonly requiredApprovals?: number
}

/** A call that waits for an approval. */
export interface HeldCall extends HeldFor {
  readonly operation: string
  readonly summary: string
  /** The gate of the call: who passes it decides. */
  readonly decide: { readonly relation: string; readonly object: string }
  readonly requestedBy: string
  readonly runs: 'server' | 'requester'
  readonly sent: SentCall
  readonly nowMs: number
}

/** One run of an approved call. */
export interface ApprovedRun {
  readonly approvalId: string
  readonly operation: string
  readonly requestedBy: string
  readonly sent: SentCall
  readonly nowMs: number
}

/** The approval under which a call is made. */
export interface UsedApproval {
  readonly id: string
  /** The subjects that approved. */
  readonly approvedBy: readonly string[]
  readonly requestedAtMs: number
}

/** Keeps the calls that wait for an approval (decisions: Held operations). */
export interface HeldCalls {
  /** Whether a policy names the action: that of the Domain, or the platform's. */
  isHeld(db: Db, action: string, domainId: string | null): Promise<boolean>
  /** The most approvals that any policy asks for the action; 0 where none names it. */
  mostAsked(db: Db, action: string): Promise<number>
  /** Whether the group mirrors one of the identity provider, or has such a group among its members, directly or not. */
  hasMirroredMembers(db: Db, groupId: string): Promise<boolean>
  /**
   * Keeps the call sealed and adds it to the approvals queue. Gives the id of its approval.
   * @throws Problem `approval_pending` where one of the action waits for the same object.
   */
  hold(change: Change, call: HeldCall): Promise<string>
  /**
   * Uses the approval of a call up, in the transaction of the call: it is made once or not at all.
   * @throws Problem `approval_not_found` where the caller has no such approval; `approval_pending` while it waits;
   *   `approval_stale` where it is of another call, has ended otherwise, was used, or was decided more than 24 h ago.
   */
  use(change: Change, run: ApprovedRun): Promise<UsedApproval>
}
