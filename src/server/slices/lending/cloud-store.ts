import type { Insertable, Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import type { CloudAssignmentRow } from './tables.ts'
import { updateIfAsRead } from '../../sql/compare-and-set.ts'
import { byId } from '../../sql/keyset.ts'
import { conflictsAs } from '../../sql/unique.ts'
import type { Move } from './credential-store.ts'
import { isMaterialised } from './live-tuple-store.ts'

export type CloudAssignment = Selectable<CloudAssignmentRow>

/** An assignment and the Domain of its Project. */
export type PlacedAssignment = CloudAssignment & { readonly domain_id: string }

/** A Project and a Cloud. */
export interface Pair {
  readonly projectId: string
  readonly cloudId: string
}

/** @throws Problem `duplicate_live_assignment` where the Project has the Cloud or has requested it. */
export async function insertAssignment(tx: Db, assignment: Insertable<CloudAssignmentRow>): Promise<CloudAssignment> {
  const write = tx.insertInto('cloud_assignments').values(assignment).returningAll().executeTakeFirstOrThrow()
  return conflictsAs(write, { cloud_assignments_live_key: 'duplicate_live_assignment' })
}

/** Reads the assignments of a Project, oldest first. */
export function listAssignments(
  db: Db,
  projectId: string,
  range: PageRange,
): Promise<(CloudAssignment & { materialised: boolean })[]> {
  const assignments = db
    .selectFrom('cloud_assignments as assignment')
    .selectAll('assignment')
    .select(isMaterialised('consumer', 'cloud', 'cloud_id').as('materialised'))
    .where('project_id', '=', projectId)
  return byId.page(assignments, range).execute()
}

const placed = (db: Db) =>
  db
    .selectFrom('cloud_assignments as assignment')
    .innerJoin('projects', 'projects.id', 'assignment.project_id')
    .selectAll('assignment')
    .select('projects.domain_id')

export function findAssignment(db: Db, id: string): Promise<PlacedAssignment | undefined> {
  return placed(db).where('assignment.id', '=', id).executeTakeFirst()
}

/** Locks an assignment until the transaction ends; no credential of its Cloud can be requested meanwhile. */
export function lockAssignment(tx: Db, id: string): Promise<PlacedAssignment | undefined> {
  return placed(tx).where('assignment.id', '=', id).forUpdate('assignment').executeTakeFirst()
}

/** @throws Problem `stale` where it is in another state, `cloud_assignment_not_found` */
export function moveAssignment(tx: Db, id: string, { from, set, stale }: Move): Promise<CloudAssignment> {
  const codes = { stale, gone: 'cloud_assignment_not_found' } as const
  return updateIfAsRead(tx, 'cloud_assignments', { id, asRead: { state: from }, set, ...codes })
}

/** Ends a request that was not approved. One that has ended, or that went with its Project or Cloud, is left alone. */
export async function rejectAssignment(tx: Db, id: string, at: Date): Promise<void> {
  await tx
    .updateTable('cloud_assignments')
    .set({ state: 'rejected', updated_at: at })
    .where('id', '=', id)
    .where('state', '=', 'requested')
    .execute()
}

const approved = (db: Db, { projectId, cloudId }: Pair) =>
  db
    .selectFrom('cloud_assignments')
    .select('id')
    .where('project_id', '=', projectId)
    .where('cloud_id', '=', cloudId)
    .where('state', '=', 'approved')

/** Whether the Project may use the Cloud. */
export async function isUsable(db: Db, pair: Pair): Promise<boolean> {
  return (await approved(db, pair).executeTakeFirst()) !== undefined
}

/** Keeps the Project's right to use the Cloud from being taken back until the transaction ends; false when it has none. */
export async function holdUsable(tx: Db, pair: Pair): Promise<boolean> {
  return (await approved(tx, pair).forShare().executeTakeFirst()) !== undefined
}

/** Keeps a Cloud from being deleted until the transaction ends. */
export function holdCloud(tx: Db, id: string): Promise<{ readonly slug: string } | undefined> {
  return tx.selectFrom('clouds').select('slug').where('id', '=', id).forKeyShare().executeTakeFirst()
}

/** The names by which people know a Project and a Cloud. */
export async function readSlugs(db: Db, { projectId, cloudId }: Pair): Promise<{ project: string; cloud: string }> {
  return db
    .selectFrom('projects')
    .innerJoin('clouds', (join) => join.on('clouds.id', '=', cloudId))
    .select(['projects.slug as project', 'clouds.slug as cloud'])
    .where('projects.id', '=', projectId)
    .executeTakeFirstOrThrow()
}

/** The approvals that requests of the Cloud wait for. */
export async function pendingApprovals(db: Db, cloudId: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('cloud_assignments')
    .select('approval_id')
    .where('cloud_id', '=', cloudId)
    .where('state', '=', 'requested')
    .execute()
  return rows.map(({ approval_id: id }) => id)
}

/** Deletes every assignment of a Cloud. */
export async function deleteAssignments(tx: Db, cloudId: string): Promise<void> {
  await tx.deleteFrom('cloud_assignments').where('cloud_id', '=', cloudId).execute()
}
