import type { invitations } from '../../../shared/contract/invitations.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import type { InvitationRecord } from './store.ts'

type Answer = Result<(typeof invitations)['operations']['CreateInvitation']>

/** Default lifetime of an invitation, in seconds: 7 days. */
export const DEFAULT_TTL_SECONDS = 604_800

/** How long an invitation is still listed after its expiry, accepted or not, in ms. */
export const LISTED_AFTER_END_MS = 30 * 24 * 60 * 60 * 1000

/** The row as the API shows it. */
export function toAnswer(invitation: InvitationRecord): Answer {
  const { accepted_by: userId } = invitation
  return {
    id: invitation.id,
    domain_id: invitation.domain_id,
    email: invitation.email,
    created_by: invitation.created_by,
    created_at: invitation.created_at.toISOString(),
    expires_at: invitation.expires_at.toISOString(),
    accepted_at: invitation.accepted_at?.toISOString() ?? null,
    accepted_by: userId === null ? null : `user:${userId}`,
  }
}
