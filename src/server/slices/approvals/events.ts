import { z } from 'zod'
import { toNobody } from '../../ports/outbox-events.ts'

const text = z.string()

const aboutApproval = z.object({ approval_id: text, kind: text, object: text, action: text, requested_by: text })

/** Outbox events of approvals and their policies. */
export const events = {
  ApprovalRequested: toNobody(aboutApproval),
  ApprovalApproved: toNobody(aboutApproval.extend({ approved_by: z.array(text) })),
  ApprovalRejected: toNobody(aboutApproval.extend({ rejected_by: text })),
  ApprovalWithdrawn: toNobody(aboutApproval.extend({ withdrawn_by: text })),
  ApprovalExpired: toNobody(aboutApproval),
  ApprovalPolicyUpdated: toNobody(
    z.object({ actions: z.record(text, z.object({ required_approvals: z.int() })), ttl_seconds: z.int().nullable() }),
  ),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}
