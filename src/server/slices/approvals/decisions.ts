import { problem } from '../../../shared/problems.ts'
import type { ApprovalKinds, DecidedApproval } from '../../ports/approval-kind.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { decidedApproval, payloadOf, referenceOf } from './approval.ts'
import { changedByOtherAt, holdActing } from './people-store.ts'
import * as store from './store.ts'

/** Who decides on an approval, or takes it back, and when. */
export interface Deciding {
  readonly id: string
  readonly subject: string
  readonly reason?: string | undefined
  readonly nowMs: number
  readonly correlationId: string
}

/**
 * The moves of a pending approval. Each locks its row, so that concurrent ones run one after another and exactly one ends
 * it. The gate has been passed. They resolve with the approval as it is then.
 */
export interface Decisions {
  /**
   * Adds an approval, and carries the request out with the last one that is needed.
   *
   * @throws Problem `self_approval_denied`, `illegal_transition`, `approval_stale`, and any that the kind finds: the
   *   approval stays pending then.
   */
  approve(change: Change, deciding: Deciding): Promise<store.DecidedRecord>
  /** @throws Problem `self_approval_denied`, `illegal_transition` */
  reject(change: Change, deciding: Deciding): Promise<store.DecidedRecord>
  /** @throws Problem `illegal_transition` */
  withdraw(change: Change, deciding: Deciding): Promise<store.DecidedRecord>
}

/** Creates the moves over the kinds, which carry them out. */
export function createDecisions({ kinds }: { readonly kinds: ApprovalKinds }): Decisions {
  return {
    async approve(change, deciding) {
      const approval = await lockDecidable(change, deciding)
      if (!(await holdActing(change.db, approval.requested_by))) throw problem('approval_stale')
      const decided = await decide(change, approval, { deciding, decision: 'approve' })
      const approvedBy = approversOf(decided)
      if (approvedBy.length < decided.required_approvals) return decided
      await kinds.of(approval.kind).approve(change, kindView(decided, deciding))
      emit(change, decided, { event: 'ApprovalApproved', approved_by: approvedBy })
      return end(change, decided, { state: 'approved', at: new Date(deciding.nowMs) })
    },

    async reject(change, deciding) {
      const approval = await lockDecidable(change, deciding)
      const decided = await decide(change, approval, { deciding, decision: 'reject' })
      await kinds.of(approval.kind).end(change, kindView(decided, deciding), 'rejected')
      emit(change, decided, { event: 'ApprovalRejected', rejected_by: deciding.subject })
      return end(change, decided, { state: 'rejected', at: new Date(deciding.nowMs) })
    },

    async withdraw(change, deciding) {
      const approval = await lockOpen(change, deciding)
      await kinds.of(approval.kind).end(change, kindView(approval, deciding), 'withdrawn')
      emit(change, approval, { event: 'ApprovalWithdrawn', withdrawn_by: deciding.subject })
      return end(change, approval, { state: 'withdrawn', at: new Date(deciding.nowMs) })
    },
  }
}

/** The subjects that have approved, in their order. */
export function approversOf({ decisions }: Pick<store.DecidedRecord, 'decisions'>): readonly string[] {
  return decisions.filter(({ decision }) => decision === 'approve').map(({ subject }) => subject)
}

function kindView(
  approval: store.DecidedRecord,
  { nowMs, correlationId }: Pick<Deciding, 'nowMs' | 'correlationId'>,
): DecidedApproval {
  return decidedApproval(approval, { approvedBy: approversOf(approval), nowMs, correlationId })
}

/** Locks an approval that waits. One past its end waits no longer, although the job may not have ended it yet. */
async function lockOpen(change: Change, { id, nowMs }: Deciding): Promise<store.DecidedRecord> {
  const approval = await store.lockApproval(change.db, id)
  if (approval === undefined) throw problem('approval_not_found')
  const isOpen = approval.state === 'pending-approval' && approval.expires_at.getTime() > nowMs
  if (!isOpen) throw problem('illegal_transition')
  return approval
}

/**
 * Locks an approval that the subject may decide: it waits, is somebody else's, and the subject has not decided it yet.
 * Nobody else has changed how the decider signs in since it was requested: that person could be the requester.
 */
async function lockDecidable(change: Change, deciding: Deciding): Promise<store.DecidedRecord> {
  const { subject } = deciding
  const approval = await lockOpen(change, deciding)
  const changedAt = await changedByOtherAt(change.db, subject)
  const isTakenOver = changedAt !== undefined && changedAt >= approval.requested_at
  if (isTakenOver || approval.requested_by === subject) throw problem('self_approval_denied')
  if (approval.decisions.some((one) => one.subject === subject)) throw problem('illegal_transition')
  return approval
}

async function decide(
  change: Change,
  approval: store.DecidedRecord,
  { deciding, decision }: { readonly deciding: Deciding; readonly decision: 'approve' | 'reject' },
): Promise<store.DecidedRecord> {
  const taken = {
    approval_id: approval.id,
    subject: deciding.subject,
    decision,
    reason: deciding.reason ?? null,
    at: new Date(deciding.nowMs),
  }
  await store.insertDecision(change.db, taken)
  return { ...approval, decisions: [...approval.decisions, taken] }
}

async function end(change: Change, approval: store.DecidedRecord, how: store.End): Promise<store.DecidedRecord> {
  await store.endApprovals(change.db, [approval.id], how)
  return { ...approval, state: how.state, ended_at: how.at }
}

type Ending =
  | { readonly event: 'ApprovalApproved'; readonly approved_by: readonly string[] }
  | { readonly event: 'ApprovalRejected'; readonly rejected_by: string }
  | { readonly event: 'ApprovalWithdrawn'; readonly withdrawn_by: string }

function emit(change: Change, approval: store.ApprovalRecord, ending: Ending): void {
  const about = { domainId: approval.domain_id, aggregate: referenceOf(approval.id) }
  const payload = payloadOf(approval)
  if (ending.event === 'ApprovalApproved')
    change.emit({ event: ending.event, ...about, payload: { ...payload, approved_by: [...ending.approved_by] } })
  else if (ending.event === 'ApprovalRejected')
    change.emit({ event: ending.event, ...about, payload: { ...payload, rejected_by: ending.rejected_by } })
  else change.emit({ event: ending.event, ...about, payload: { ...payload, withdrawn_by: ending.withdrawn_by } })
}
