import type { Db } from '../../ports/datastore.ts'

/** The Domain of a Project; undefined where there is no such Project. */
export async function domainOfProject(db: Db, id: string): Promise<string | undefined> {
  const found = await db.selectFrom('projects').select('domain_id').where('id', '=', id).executeTakeFirst()
  return found?.domain_id
}
