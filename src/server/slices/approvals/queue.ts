import type { ApprovalQueue, ApprovalRequest } from '../../ports/approval-queue.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { payloadOf, referenceOf, SYSTEM } from './approval.ts'
import { approvalsFor, ttlOf } from './policy.ts'
import { readPolicies } from './policy-store.ts'
import * as store from './store.ts'

/** Creates the queue, as the slices that add to it see it. */
export function createApprovalQueue({ ids }: { readonly ids: IdSource }): ApprovalQueue {
  return {
    async request(change, request) {
      const policies = await readPolicies(change.db, request.domainId)
      const required = request.requiredApprovals ?? approvalsFor(policies, request.action)
      const approval = recordOf(request, { id: ids.next(), required, ttlSeconds: ttlOf(policies) })
      await store.insertApproval(change.db, approval)
      change.emit({
        event: 'ApprovalRequested',
        domainId: request.domainId,
        aggregate: referenceOf(approval.id),
        payload: payloadOf(approval),
      })
      return { id: approval.id }
    },
    withdraw: (change, approvalIds, nowMs) => withdrawAll(change, { ids: approvalIds }, nowMs),
    withdrawOfProject: (change, projectId, nowMs) => withdrawAll(change, { projectId }, nowMs),
    withdrawOfDomain: (change, domainId, nowMs) => withdrawAll(change, { domainId }, nowMs),
  }
}

interface Terms {
  readonly id: string
  readonly required: number
  readonly ttlSeconds: number
}

/** A slice that requests an approval needs one at least, whatever the policies say. */
function recordOf(request: ApprovalRequest, { id, required, ttlSeconds }: Terms): store.ApprovalRecord {
  return {
    id,
    kind: request.kind,
    object: request.object,
    action: request.action,
    operation: request.operation,
    summary: request.summary,
    decide_relation: request.decide.relation,
    decide_object: request.decide.object,
    domain_id: request.domainId,
    project_id: request.projectId,
    state: 'pending-approval',
    requested_by: request.requestedBy,
    requested_at: new Date(request.nowMs),
    expires_at: new Date(request.nowMs + ttlSeconds * 1000),
    required_approvals: Math.max(1, required),
    reason: request.reason ?? null,
    outcome: null,
    ended_at: null,
  }
}

async function withdrawAll(change: Change, of: store.PendingOf, nowMs: number): Promise<void> {
  const pending = await store.lockPending(change.db, of)
  const ids = pending.map(({ id }) => id)
  await store.endApprovals(change.db, ids, { state: 'withdrawn', at: new Date(nowMs) })
  for (const approval of pending) announceWithdrawal(change, approval)
}

function announceWithdrawal(change: Change, approval: store.ApprovalRecord): void {
  const { id, domain_id: domainId, kind, object } = approval
  const aggregate = referenceOf(id)
  change.emit({
    event: 'ApprovalWithdrawn',
    domainId,
    aggregate,
    payload: { ...payloadOf(approval), withdrawn_by: SYSTEM },
  })
  change.audit({
    domainId,
    subject: SYSTEM,
    relation: 'approval.withdraw',
    object: aggregate,
    outcome: 'granted',
    reason: 'granted',
    context: { kind, about: object },
  })
}
