import type { Slice } from '../../http/slice.ts'
import type { Authorizer } from '../../ports/authorizer.ts'
import type { Clock, IdSource } from '../../ports/clock.ts'
import { createApprovalExpiry } from './expiry.ts'
import { createApprovalPolicies, type ApprovalPoliciesDeps } from './policies.ts'
import { createApprovalSweeper } from './approval-sweeper.ts'
import { createHeldJob } from './held-job.ts'
import { createHeldKind } from './held-kind.ts'
import type { HeldRuns } from './held-runs.ts'
import { createApprovals, type ApprovalsDeps } from './service.ts'

export { contents } from './contents.ts'
export { events } from './events.ts'

export interface ApprovalsPorts extends ApprovalsDeps, ApprovalPoliciesDeps {
  readonly clock: Clock
  readonly ids: IdSource
  /** How long ended approvals are kept, in days. */
  readonly retentionDays: number
  /** Makes the calls that were approved. */
  readonly heldRuns: HeldRuns
  readonly authorizer: Authorizer
}

/** The approvals queue, and the policies that say what waits in it. */
export function createSlice(ports: ApprovalsPorts): Slice<'approvals' | 'approvalPolicies'> {
  return {
    handlers: { approvals: createApprovals(ports), approvalPolicies: createApprovalPolicies(ports) },
    jobs: [createApprovalExpiry(ports), createApprovalSweeper(ports.clock, ports.retentionDays), createHeldJob(ports)],
    approvalKinds: [createHeldKind(ports)],
  }
}
