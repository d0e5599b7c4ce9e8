import type { Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { HeldCallRow } from './tables.ts'

export type HeldCallRecord = Selectable<HeldCallRow>

export async function insertHeldCall(tx: Db, call: Omit<HeldCallRecord, 'made_at'>): Promise<void> {
  await tx.insertInto('held_calls').values(call).execute()
}

/** A held call with what was decided on it. */
export interface ApprovedCall extends HeldCallRecord {
  readonly state: string
  readonly requested_by: string
  readonly requested_at: Date
  readonly ended_at: Date | null
}

const callAt = (db: Db, approvalId: string) =>
  db
    .selectFrom('held_calls')
    .innerJoin('approvals', 'approvals.id', 'held_calls.approval_id')
    .selectAll('held_calls')
    .select(['approvals.state', 'approvals.requested_by', 'approvals.requested_at', 'approvals.ended_at'])
    .where('approval_id', '=', approvalId)

export function findCall(db: Db, approvalId: string): Promise<ApprovedCall | undefined> {
  return callAt(db, approvalId).executeTakeFirst()
}

/** Locks the call, so that it is made once. */
export function lockCall(tx: Db, approvalId: string): Promise<ApprovedCall | undefined> {
  return callAt(tx, approvalId).forUpdate('held_calls').executeTakeFirst()
}

/** Notes that the call was made, or failed for good, and deletes its content. */
export async function closeCall(tx: Db, approvalId: string, at: Date): Promise<void> {
  await tx.updateTable('held_calls').set({ made_at: at, sealed: null }).where('approval_id', '=', approvalId).execute()
}

/** Deletes a call that was not approved. */
export async function deleteCall(tx: Db, approvalId: string): Promise<void> {
  await tx.deleteFrom('held_calls').where('approval_id', '=', approvalId).execute()
}

/** Notes that an approved call was refused when it was made. */
export async function failApproval(tx: Db, approvalId: string, outcome: string): Promise<void> {
  await tx.updateTable('approvals').set({ state: 'failed', outcome }).where('id', '=', approvalId).execute()
}

/** Calls that one pass of the job looks at. */
const PASS_MAX = 50

/** Approved calls that nobody has made yet, 50 of them: those that the server makes, and those of requesters whose time is over. */
export async function listOpenCalls(
  db: Db,
  { approvedBefore, openedBefore }: { readonly approvedBefore: Date; readonly openedBefore: Date },
): Promise<readonly { readonly approval_id: string }[]> {
  return db
    .selectFrom('held_calls')
    .innerJoin('approvals', 'approvals.id', 'held_calls.approval_id')
    .select('approval_id')
    .where('made_at', 'is', null)
    .where('state', '=', 'approved')
    .where((row) =>
      row.or([
        row.and([row('runs', '=', 'server'), row('ended_at', '<', approvedBefore)]),
        row.and([row('runs', '=', 'requester'), row('ended_at', '<', openedBefore)]),
      ]),
    )
    .orderBy('ended_at')
    .limit(PASS_MAX)
    .execute()
}

/** The subjects that approved. */
export async function approversIn(db: Db, approvalId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('approval_decisions')
    .select('subject')
    .where('approval_id', '=', approvalId)
    .where('decision', '=', 'approve')
    .orderBy('at')
    .orderBy('subject')
    .execute()
  return rows.map(({ subject }) => subject)
}

/** What a requester must hold still, when its call is approved: the gate that it passed. */
export function findGate(
  tx: Db,
  approvalId: string,
): Promise<{ readonly decide_relation: string; readonly decide_object: string }> {
  return tx
    .selectFrom('approvals')
    .select(['decide_relation', 'decide_object'])
    .where('id', '=', approvalId)
    .executeTakeFirstOrThrow()
}

/** The user or service identity for which the server makes a call; undefined where it may not act any more. */
export function findActing(db: Db, id: string) {
  return db
    .selectFrom('principals')
    .select(['id', 'kind', 'domain_id', 'display_name'])
    .where('id', '=', id)
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
}

/** The most approvals that any policy asks for the action; 0 where none names it. */
export async function mostAsked(db: Db, action: string): Promise<number> {
  const policies = await db.selectFrom('approval_policies').select('actions').execute()
  const asked = policies.flatMap(({ actions }) => Object.entries(actions).filter(([name]) => name === action))
  return Math.max(0, ...asked.map(([, { required_approvals }]) => required_approvals))
}
