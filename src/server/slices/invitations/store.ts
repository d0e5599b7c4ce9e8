import type { Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { Arrival } from '../../ports/invitations.ts'
import type { InvitationRow } from '../../ports/sign-in-tables.ts'

export type InvitationRecord = Selectable<InvitationRow>

/** Inserts the invitation; false when an open one of the address is there. One that has expired makes room for it. */
export async function insertInvitation(tx: Db, invitation: InvitationRecord): Promise<boolean> {
  await tx
    .deleteFrom('invitations')
    .where('domain_id', '=', invitation.domain_id)
    .where('email', '=', invitation.email)
    .where('accepted_at', 'is', null)
    .where('expires_at', '<=', invitation.created_at)
    .execute()
  const inserted = await tx
    .insertInto('invitations')
    .values(invitation)
    .onConflict((conflict) => conflict.columns(['domain_id', 'email']).where('accepted_at', 'is', null).doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

/** Which invitations of a Domain to read: the newest first, going on after `after`. */
export interface InvitationRange {
  readonly domainId: string
  readonly after: { readonly createdAt: Date; readonly id: string } | undefined
  readonly count: number
}

export function readInvitations(db: Db, { domainId, after, count }: InvitationRange): Promise<InvitationRecord[]> {
  let query = db.selectFrom('invitations').selectAll().where('domain_id', '=', domainId)
  if (after !== undefined) {
    query = query.where((row) => row(row.refTuple('created_at', 'id'), '<', row.tuple(after.createdAt, after.id)))
  }
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(count).execute()
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
