import type { Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { Arrival } from '../../ports/invitations.ts'
import type { PageRange } from '../../ports/page-range.ts'
import { byCreatedAtDescending } from '../../sql/keyset.ts'
import { conflictsAs } from '../../sql/unique.ts'
import type { InvitationRow } from './tables.ts'

export type InvitationRecord = Selectable<InvitationRow>

/**
 * Inserts the invitation in place of an expired one of the address.
 * @throws Problem `invitation_already_exists` where the address has an open one.
 */
export async function insertInvitation(tx: Db, invitation: InvitationRecord): Promise<void> {
  await tx
    .deleteFrom('invitations')
    .where('domain_id', '=', invitation.domain_id)
    .where('email', '=', invitation.email)
    .where('accepted_at', 'is', null)
    .where('expires_at', '<=', invitation.created_at)
    .execute()
  const write = tx.insertInto('invitations').values(invitation).execute()
  await conflictsAs(write, { invitations_open_key: 'invitation_already_exists' })
}

/** Reads the invitations of a Domain, newest first. */
export function readInvitations(db: Db, domainId: string, range: PageRange): Promise<InvitationRecord[]> {
  const invitations = db.selectFrom('invitations').selectAll().where('domain_id', '=', domainId)
  return byCreatedAtDescending.page(invitations, range).execute()
}

/** Deletes an invitation of the Domain that nobody has accepted; false when there is no such one. */
export async function deleteOpen(tx: Db, { id, domainId }: { id: string; domainId: string }): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('invitations')
    .where('id', '=', id)
    .where('domain_id', '=', domainId)
    .where('accepted_at', 'is', null)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Uses up the open invitation of the address; false when there is none that has not expired. */
export async function acceptOpen(tx: Db, { domainId, email, userId, at }: Arrival): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('invitations')
    .set({ accepted_at: at, accepted_by: userId })
    .where('domain_id', '=', domainId)
    .where('email', '=', email)
    .where('accepted_at', 'is', null)
    .where('expires_at', '>', at)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
