import type { Db } from '../ports/datastore.ts'

/**
 * Keeps the Project from being deleted until the transaction ends. Gives its Domain; undefined when there is no such
 * Project, or none in `domainId` where that is given.
 */
export async function holdProject(tx: Db, projectId: string, domainId?: string): Promise<string | undefined> {
  const project = await tx
    .selectFrom('projects')
    .select('domain_id')
    .where('id', '=', projectId)
    .$if(domainId !== undefined, (query) => query.where('domain_id', '=', domainId ?? ''))
    .forKeyShare()
    .executeTakeFirst()
  return project?.domain_id
}
