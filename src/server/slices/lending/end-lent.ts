import type { ApprovalQueue } from '../../ports/approval-queue.ts'
import type { Revocation } from '../../ports/lent-credentials.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { usesTuple } from './assignment.ts'
import * as credentials from './credential-store.ts'

/** The columns of a row that is revoked. */
export const revokedColumns = ({ by, reason, nowMs }: Revocation) =>
  ({ state: 'revoked', revoked_by: by, revoked_reason: reason, updated_at: new Date(nowMs) }) as const

/**
 * Ends what is requested and approved. Approvals are withdrawn first: a decision locks its approval before the assignment,
 * so it has ended by then, or it finds its approval withdrawn. The caller keeps further requests out.
 */
export async function endLent(
  change: Change,
  queue: ApprovalQueue,
  { of, revocation }: { readonly of: credentials.LentOf; readonly revocation: Revocation },
): Promise<void> {
  await queue.withdraw(change, await credentials.pendingApprovals(change.db, of), revocation.nowMs)
  for (const assignment of await credentials.lockLive(change.db, of)) {
    if (assignment.state === 'approved') await revoke(change, assignment, revocation)
    else await credentials.rejectAssignment(change.db, assignment.id, new Date(revocation.nowMs))
  }
}

/**
 * Revokes an approved assignment of a credential: its right ends with the change.
 * @throws Problem `illegal_transition` where it is not approved
 */
export async function revoke(
  change: Change,
  assignment: Pick<credentials.PlacedAssignment, 'id' | 'domain_id'>,
  revocation: Revocation,
): Promise<credentials.CredentialAssignment> {
  const revoked = await credentials.moveAssignment(change.db, assignment.id, {
    from: 'approved',
    set: revokedColumns(revocation),
    stale: 'illegal_transition',
  })
  await change.tuples.removeStructural(usesTuple(revoked))
  change.emit({
    event: 'CredentialAssignmentRevoked',
    domainId: assignment.domain_id,
    aggregate: `credential_assignment:${revoked.id}`,
    payload: {
      credential_assignment_id: revoked.id,
      project_id: revoked.project_id,
      cloud_credential_id: revoked.cloud_credential_id,
    },
  })
  return revoked
}
