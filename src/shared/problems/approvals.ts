import { invalid, row } from './row.ts'

/** Problems of approvals and their policies. */
export const APPROVALS_PROBLEMS = {
  invalid_approval_id: invalid('Invalid approval id', 'The approval id must be a UUID other than zero.'),
  invalid_state: invalid('Invalid state', 'The state is not one of those documented.'),
  invalid_decision_reason: invalid(
    'Invalid reason',
    'The reason of a decision has 1 to 1024 characters and is not blank.',
  ),
  self_approval_denied: row(
    403,
    'Own request',
    'A second person has to decide: you requested this, or somebody else changed how you sign in after it was requested.',
  ),
  approval_not_found: row(404, 'Approval not found', 'No such approval exists, or you may not see it.'),
  approval_stale: row(
    409,
    'Approval stale',
    'What was requested can no longer be done for the requester; it has to be requested again.',
  ),
  approval_pending: row(409, 'Approval pending', 'The same action on the same object already waits for an approval.'),
  too_few_approvers: row<{ readonly approvers: number; readonly needed: number }>(
    409,
    'Too few approvers',
    'Fewer people could decide than this policy asks for; give more people the right to manage this first.',
  ),
  approvals_not_provisioned: row(501, 'Not provisioned', 'This server has no approvals queue configured.'),
} as const
