import type { approvals } from '../../../shared/contract/approvals.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import type { Row } from '../../http/request-context.ts'
import type { DecidedApproval } from '../../ports/approval-kind.ts'
import type { OutboxPayload } from '../../ports/outbox-events.ts'
import type { ApprovalNames } from './names.ts'
import type { ApprovalRecord, DecidedRecord, DecisionRecord } from './store.ts'

type Answer = Result<(typeof approvals)['operations']['GetApproval']>

/** The subject of what the server does to approvals by itself. */
export const SYSTEM = 'system:approvals'

/** The reference of an approval in audit rows and events. */
export const referenceOf = (id: string): string => `approval:${id}`

/** The row as the API shows it, with the names that the caller may read. */
export async function toAnswer({ decisions, ...approval }: DecidedRecord, names: ApprovalNames): Promise<Answer> {
  const { action, operation, summary, domain_id: domainId } = approval
  const [requested_by_name, sentence, shown] = await Promise.all([
    names.nameOf(approval.requested_by, domainId),
    names.named(summary, domainId),
    Promise.all(decisions.map((decision) => decisionShown(decision, (subject) => names.nameOf(subject, domainId)))),
  ])
  return {
    id: approval.id,
    kind: approval.kind,
    object: approval.object,
    ...(domainId !== null && { domain_id: domainId }),
    ...(approval.project_id !== null && { project_id: approval.project_id }),
    state: approval.state,
    requested_by: approval.requested_by,
    requested_by_name,
    requested_at: approval.requested_at.toISOString(),
    expires_at: approval.expires_at.toISOString(),
    ...(approval.reason !== null && { reason: approval.reason }),
    required_approvals: approval.required_approvals,
    decisions: shown,
    action: { name: action, operation, summary, sentence },
    ...(approval.outcome !== null && { outcome: approval.outcome }),
  }
}

async function decisionShown(
  { subject, decision, reason, at }: DecisionRecord,
  nameOf: (subject: string) => Promise<string | null>,
): Promise<Answer['decisions'][number]> {
  const subject_name = await nameOf(subject)
  return { subject, subject_name, decision, ...(reason !== null && { reason }), at: at.toISOString() }
}

/** What fills the holes of the gates. Its place is its Project, else its Domain, else the platform. */
export function gateRow(approval: ApprovalRecord): Row {
  const { requested_by, decide_relation, decide_object } = approval
  return { requested_by, decide_relation, decide_object, place: placeOf(approval) }
}

function placeOf({ project_id: projectId, domain_id: domainId }: ApprovalRecord): string {
  if (projectId !== null) return `project:${projectId}`
  return domainId === null ? 'platform:main' : `domain:${domainId}`
}

/** The approval as its kind sees it. */
export function decidedApproval(
  approval: ApprovalRecord,
  at: { readonly approvedBy: readonly string[]; readonly nowMs: number; readonly correlationId: string },
): DecidedApproval {
  return {
    id: approval.id,
    object: approval.object,
    requestedBy: approval.requested_by,
    domainId: approval.domain_id,
    projectId: approval.project_id,
    ...at,
  }
}

/** The members that every event of an approval has. */
export function payloadOf(approval: ApprovalRecord): OutboxPayload<'ApprovalRequested'> {
  const { id, kind, object, action, requested_by } = approval
  return { approval_id: id, kind, object, action, requested_by }
}
