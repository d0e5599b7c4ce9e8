import type { Insertable, Selectable } from 'kysely'
import type { ApprovalState } from '../../../shared/contract/approval-schemas.ts'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import { byIdDescending } from '../../sql/keyset.ts'
import { conflictsAs } from '../../sql/unique.ts'
import type { ApprovalDecisionRow, ApprovalRow } from './tables.ts'

export type ApprovalRecord = Selectable<ApprovalRow>

export type DecisionRecord = Selectable<ApprovalDecisionRow>

/** An approval with its decisions, the earliest first. */
export interface DecidedRecord extends ApprovalRecord {
  readonly decisions: readonly DecisionRecord[]
}

const PENDING = 'pending-approval'

/** @throws Problem `approval_pending` where one with the same action and object is pending. */
export async function insertApproval(tx: Db, approval: Insertable<ApprovalRow>): Promise<void> {
  const write = tx.insertInto('approvals').values(approval).execute()
  await conflictsAs(write, { approvals_pending_key: 'approval_pending' })
}

export async function findApproval(db: Db, id: string): Promise<DecidedRecord | undefined> {
  const approval = await db.selectFrom('approvals').selectAll().where('id', '=', id).executeTakeFirst()
  return approval && oneWithDecisions(db, approval)
}

/**
 * Locks the approval until the transaction ends. Its decisions are read by a statement of its own: one that waits for the
 * lock sees other tables as they were before it (READ COMMITTED), and would miss the decision that it waited for.
 */
export async function lockApproval(tx: Db, id: string): Promise<DecidedRecord | undefined> {
  const approval = await tx.selectFrom('approvals').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
  return approval && oneWithDecisions(tx, approval)
}

async function oneWithDecisions(db: Db, approval: ApprovalRecord): Promise<DecidedRecord> {
  return { ...approval, decisions: await decisionsOf(db, [approval.id]) }
}

function decisionsOf(db: Db, ids: readonly string[]): Promise<DecisionRecord[]> {
  return db
    .selectFrom('approval_decisions')
    .selectAll()
    .where('approval_id', 'in', ids)
    .orderBy('at')
    .orderBy('subject')
    .execute()
}

/** Which approvals a list shows; a member that is undefined does not restrict it. */
export interface ApprovalFilter {
  readonly state: ApprovalState | undefined
  readonly kind: string | undefined
  readonly projectId: string | undefined
  readonly domainId: string | undefined
  /** Only those that this subject requested. */
  readonly requestedBy: string | undefined
  /** Only those that this subject did not request. */
  readonly notRequestedBy: string | undefined
}

/** Reads approvals, the newest first. */
export async function listApprovals(db: Db, filter: ApprovalFilter, range: PageRange): Promise<DecidedRecord[]> {
  const { state, kind, projectId, domainId, requestedBy, notRequestedBy } = filter
  const approvals = db
    .selectFrom('approvals')
    .selectAll()
    .$if(state !== undefined, (query) => query.where('state', '=', state ?? PENDING))
    .$if(kind !== undefined, (query) => query.where('kind', '=', kind ?? ''))
    .$if(projectId !== undefined, (query) => query.where('project_id', '=', projectId ?? ''))
    .$if(domainId !== undefined, (query) => query.where('domain_id', '=', domainId ?? ''))
    .$if(requestedBy !== undefined, (query) => query.where('requested_by', '=', requestedBy ?? ''))
    .$if(notRequestedBy !== undefined, (query) => query.where('requested_by', '<>', notRequestedBy ?? ''))
  const page = await byIdDescending.page(approvals, range).execute()
  if (page.length === 0) return []
  const decisions = await decisionsOf(
    db,
    page.map(({ id }) => id),
  )
  return page.map((approval) => ({
    ...approval,
    decisions: decisions.filter(({ approval_id: id }) => id === approval.id),
  }))
}

/** Which pending approvals a change locks. */
export type PendingOf =
  | { readonly ids: readonly string[] }
  | { readonly projectId: string }
  | { readonly domainId: string }

/** Locks pending approvals, in one order, and reads them. */
export async function lockPending(tx: Db, of: PendingOf): Promise<ApprovalRecord[]> {
  if ('ids' in of && of.ids.length === 0) return []
  return tx
    .selectFrom('approvals')
    .selectAll()
    .where('state', '=', PENDING)
    .where((row) => {
      if ('ids' in of) return row('id', 'in', of.ids)
      return 'projectId' in of ? row('project_id', '=', of.projectId) : row('domain_id', '=', of.domainId)
    })
    .orderBy('id')
    .forUpdate()
    .execute()
}

/** Locks one pending approval that is past its end, the longest expired first; one that somebody is using is left out. */
export async function lockExpired(
  tx: Db,
  { now, except }: { readonly now: Date; readonly except: readonly string[] },
): Promise<DecidedRecord | undefined> {
  const approval = await tx
    .selectFrom('approvals')
    .selectAll()
    .where('state', '=', PENDING)
    .where('expires_at', '<=', now)
    .$if(except.length > 0, (query) => query.where('id', 'not in', except))
    .orderBy('expires_at')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  return approval && oneWithDecisions(tx, approval)
}

/** How approvals end. */
export interface End {
  readonly state: Exclude<ApprovalState, typeof PENDING>
  readonly at: Date
}

/** Ends approvals, which the caller has locked. */
export async function endApprovals(tx: Db, ids: readonly string[], { state, at }: End): Promise<void> {
  if (ids.length > 0) await tx.updateTable('approvals').set({ state, ended_at: at }).where('id', 'in', ids).execute()
}

export async function insertDecision(tx: Db, decision: DecisionRecord): Promise<void> {
  await tx.insertInto('approval_decisions').values(decision).execute()
}
