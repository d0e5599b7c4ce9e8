import type { Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import { bySlug } from '../../sql/keyset.ts'
import { conflictsAs } from '../../sql/unique.ts'
import type { ProjectRow } from '../../ports/tables/tenancy.ts'

export type ProjectRecord = Selectable<ProjectRow>

/** @throws Problem `slug_conflict` where another Project of the Domain has the slug. */
export async function insertProject(db: Db, project: ProjectRecord): Promise<void> {
  const write = db.insertInto('projects').values(project).execute()
  await conflictsAs(write, { projects_domain_slug_key: 'slug_conflict' })
}

export function findProject(db: Db, id: string): Promise<ProjectRecord | undefined> {
  return db.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Reads the Projects of a Domain by slug. */
export function listProjects(db: Db, domainId: string, range: PageRange): Promise<ProjectRecord[]> {
  return bySlug.page(db.selectFrom('projects').selectAll().where('domain_id', '=', domainId), range).execute()
}

/** Renames the Project; undefined when it was deleted. */
export function renameProject(
  db: Db,
  id: string,
  change: { readonly display_name: string; readonly updated_at: Date },
): Promise<ProjectRecord | undefined> {
  return db.updateTable('projects').set(change).where('id', '=', id).returningAll().executeTakeFirst()
}

/**
 * Locks the Project against the creation of objects in it: such inserts take `FOR KEY SHARE` on its row through
 * their foreign key. An earlier insert has committed when this returns, and the next statement sees it.
 */
export function lockForDelete(db: Db, id: string): Promise<ProjectRecord | undefined> {
  return db.selectFrom('projects').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

/** Deletes the Project; spent join tokens and ended sessions that name it go with it by their foreign keys. */
export async function deleteProject(db: Db, id: string): Promise<void> {
  await db.deleteFrom('projects').where('id', '=', id).execute()
}
