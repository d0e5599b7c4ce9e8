import type { Change } from '../../ports/unit-of-work.ts'
import { announce } from './announce.ts'
import { insertProject, type ProjectRecord } from './store.ts'

/**
 * Adds a Project with its edge to the Domain, which must be there; false when its slug is taken, and then nothing was
 * written. The one way a Project comes to be, at first run too.
 */
export async function addProject(change: Change, project: ProjectRecord): Promise<boolean> {
  if (!(await insertProject(change.db, project))) return false
  await change.tuples.createStructural(
    { subject: `domain:${project.domain_id}`, relation: 'domain', resource: `project:${project.id}` },
    { domainId: project.domain_id, projectId: project.id },
  )
  announce(change, 'ProjectCreated', project)
  return true
}
