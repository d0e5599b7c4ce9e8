import { sql, type Insertable, type Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import type { CloudCredentialRow } from '../../ports/tables/catalogue.ts'
import type { CredentialAssignmentRow } from './tables.ts'
import { updateIfAsRead } from '../../sql/compare-and-set.ts'
import { byId } from '../../sql/keyset.ts'
import { conflictsAs } from '../../sql/unique.ts'
import { isMaterialised } from './live-tuple-store.ts'

// Rows are locked in one order: the Project, the Cloud, its assignment and its credentials, then approvals, then what they
// decide on. A decision has locked its approval before it comes here.

export type CredentialAssignment = Selectable<CredentialAssignmentRow>

/** An assignment and the Domain of its Project. */
export type PlacedAssignment = CredentialAssignment & { readonly domain_id: string }

/** What is asked of a credential before it is lent. */
export type LendableCredential = Pick<
  Selectable<CloudCredentialRow>,
  'id' | 'cloud_id' | 'display_name' | 'state' | 'expires_at'
>

/** @throws Problem `duplicate_live_assignment` where the Project has the credential or has requested it. */
export async function insertAssignment(
  tx: Db,
  assignment: Insertable<CredentialAssignmentRow>,
): Promise<CredentialAssignment> {
  const write = tx.insertInto('credential_assignments').values(assignment).returningAll().executeTakeFirstOrThrow()
  return conflictsAs(write, { credential_assignments_live_key: 'duplicate_live_assignment' })
}

/** Reads the assignments of a Project, oldest first. */
export function listAssignments(
  db: Db,
  projectId: string,
  range: PageRange,
): Promise<(CredentialAssignment & { materialised: boolean })[]> {
  const assignments = db
    .selectFrom('credential_assignments as assignment')
    .selectAll('assignment')
    .select(isMaterialised('uses', 'cloudcredential', 'cloud_credential_id').as('materialised'))
    .where('project_id', '=', projectId)
  return byId.page(assignments, range).execute()
}

const placed = (db: Db) =>
  db
    .selectFrom('credential_assignments as assignment')
    .innerJoin('projects', 'projects.id', 'assignment.project_id')
    .selectAll('assignment')
    .select('projects.domain_id')

export function findAssignment(db: Db, id: string): Promise<PlacedAssignment | undefined> {
  return placed(db).where('assignment.id', '=', id).executeTakeFirst()
}

/** Locks an assignment until the transaction ends. */
export function lockAssignment(tx: Db, id: string): Promise<PlacedAssignment | undefined> {
  return placed(tx).where('assignment.id', '=', id).forUpdate('assignment').executeTakeFirst()
}

/** Whose assignments: those of a credential, or those of one Project that are of a Cloud's credentials. */
export type LentOf = { readonly credentialId: string } | { readonly projectId: string; readonly cloudId: string }

/** Assignments that are requested or approved. */
const live = (db: Db, of: LentOf) => {
  const query = placed(db).where('assignment.state', 'in', ['requested', 'approved'])
  if ('credentialId' in of) return query.where('assignment.cloud_credential_id', '=', of.credentialId)
  const ofCloud = db.selectFrom('cloud_credentials').select('id').where('cloud_id', '=', of.cloudId)
  return query.where('assignment.project_id', '=', of.projectId).where('assignment.cloud_credential_id', 'in', ofCloud)
}

/** The approvals that requests wait for. */
export async function pendingApprovals(db: Db, of: LentOf): Promise<readonly string[]> {
  const rows = await live(db, of).where('assignment.state', '=', 'requested').execute()
  return rows.map(({ approval_id: id }) => id)
}

/** Locks what is requested or approved, in one order. */
export function lockLive(tx: Db, of: LentOf): Promise<PlacedAssignment[]> {
  return live(tx, of).orderBy('assignment.id').forUpdate('assignment').execute()
}

/** How many are requested or approved. */
export async function countLive(db: Db, of: LentOf): Promise<number> {
  const { count } = await db
    .selectFrom(live(db, of).as('lent'))
    .select(sql<number>`count(*)::int`.as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** A move of an assignment. `stale` is the problem of one that is in another state than `from`. */
export interface Move {
  readonly from: CredentialAssignment['state']
  readonly set: Partial<Pick<CredentialAssignment, 'state' | 'revoked_by' | 'revoked_reason' | 'updated_at'>>
  readonly stale: 'illegal_transition' | 'approval_stale'
}

/** @throws Problem `stale` where it is in another state, `credential_assignment_not_found` */
export function moveAssignment(tx: Db, id: string, { from, set, stale }: Move): Promise<CredentialAssignment> {
  const codes = { stale, gone: 'credential_assignment_not_found' } as const
  return updateIfAsRead(tx, 'credential_assignments', { id, asRead: { state: from }, set, ...codes })
}

/** Ends a request that was not approved. One that has ended, or that went with its Project, is left alone. */
export async function rejectAssignment(tx: Db, id: string, at: Date): Promise<void> {
  await tx
    .updateTable('credential_assignments')
    .set({ state: 'rejected', updated_at: at })
    .where('id', '=', id)
    .where('state', '=', 'requested')
    .execute()
}

const lendable = (db: Db) =>
  db.selectFrom('cloud_credentials').select(['id', 'cloud_id', 'display_name', 'state', 'expires_at'])

export function findCredential(db: Db, id: string): Promise<LendableCredential | undefined> {
  return lendable(db).where('id', '=', id).executeTakeFirst()
}

/** Keeps a credential as it is until the transaction ends. */
export function holdCredential(tx: Db, id: string): Promise<LendableCredential | undefined> {
  return lendable(tx).where('id', '=', id).forShare().executeTakeFirst()
}

/**
 * Keeps the credentials of a Cloud that can be lent as they are, and reads them, the newest first. It holds all of them:
 * of a limited read nothing would be left when the first one is revoked while the statement waits for it.
 */
export function holdEligible(tx: Db, cloudId: string, now: Date): Promise<LendableCredential[]> {
  return lendable(tx)
    .where('cloud_id', '=', cloudId)
    .where('state', '=', 'active')
    .where((row) => row.or([row('expires_at', 'is', null), row('expires_at', '>', now)]))
    .orderBy('id', 'desc')
    .forShare()
    .execute()
}

/** Whether a credential can be lent: it is active and has not expired. */
export function isAssignable({ state, expires_at: expiresAt }: LendableCredential, nowMs: number): boolean {
  return state === 'active' && (expiresAt === null || expiresAt.getTime() > nowMs)
}
